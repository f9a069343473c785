"""The contract's types: what they accept, what they refuse, and which field a refusal names."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from service.wire import Batch, Judgement, Limits, Submission, Verdict

STDIO = {"mode": "stdio", "tests": [{"input": "1\n", "expected": "1\n"}]}
CALL = {"mode": "call", "entry_point": "f", "tests": [{"args": [1], "expected": None}]}
ASSERT = {"mode": "assert", "tests": [{"code": "assert f(1) == 1"}]}
OPERATIONS = {"mode": "call", "entry_point": "C", "operations": True}


def _problem(base: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {"code": "pass", "problem": {**base, **changes}}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"code": "pass", "problem": STDIO}, id="stdio"),
        pytest.param({"completion": "", "problem": CALL}, id="an empty completion is one"),
        pytest.param(
            {"code": "", "problem": ASSERT, "id": "x", "language": "python"}, id="an empty program is one"
        ),
        pytest.param({"code": "pass", "problem_id": "sha256:00"}, id="stored problem"),
        pytest.param(_problem(STDIO, entry_point=None), id="entry point null where it means nothing"),
        pytest.param(_problem(CALL, entry_point="Solution.twoSum"), id="method"),
        pytest.param(_problem(CALL, entry_point="größe"), id="names need not be ASCII"),
        pytest.param(
            _problem(CALL, answer_from="arg0", arg_types=["ListNode"], return_type="TreeNode"), id="nodes"
        ),
        pytest.param(
            _problem(
                CALL,
                arg_types=["list[ListNode]", "Optional[TreeNode]", "typing.List[Optional[ListNode]]", "int"],
                return_type="Optional[List[TreeNode]]",
            ),
            id="lists of nodes",
        ),
        pytest.param(
            _problem(STDIO, limits={"memory_bytes": 1e9, "cpu_time_s": 3}), id="one type of numbers"
        ),
        pytest.param(
            _problem(OPERATIONS, tests=[{"args": [["C", "m"], [[], [1]]], "expected": [None, 2]}]),
            id="operations",
        ),
        pytest.param(
            _problem(STDIO, comparison={"order": "lines", "abs_tol": 0, "checker": {"code": "x"}}),
            id="comparison",
        ),
        pytest.param(
            _problem(
                STDIO,
                tests=[{"input": "", "expected": "", "id": "t", "weight": 0}, {"input": "", "expected": ""}],
            ),
            id="a weight of 0 beside another",
        ),
        pytest.param(
            {"code": "x", "problem": STDIO, "options": {"detail": "full", "isolation": "strict"}},
            id="options",
        ),
    ],
)
def test_accepts(body: dict[str, Any]) -> None:
    """Every way of submitting that the contract names is taken."""
    assert Submission.model_validate(body).language == "python"


@pytest.mark.parametrize(
    ("body", "where"),
    [
        pytest.param({"problem": STDIO}, "code", id="no program"),
        pytest.param({"code": "a", "completion": "a", "problem": STDIO}, "code", id="two programs"),
        pytest.param({"code": "a"}, "problem", id="no problem"),
        pytest.param({"code": "a", "problem": STDIO, "problem_id": "p"}, "problem", id="two problems"),
        pytest.param({"code": "a", "problem": STDIO, "timeout": 3}, "timeout", id="unknown field"),
        pytest.param({"code": 1, "problem": STDIO}, "code", id="code is no text"),
        pytest.param({"code": "a", "problem": STDIO, "id": ""}, "id", id="empty id"),
        pytest.param(_problem(STDIO, mode="batch"), "mode", id="unknown mode"),
        pytest.param(_problem(STDIO, tests=[]), "tests", id="nothing tested is never a pass"),
        pytest.param(_problem(STDIO, tests=[{"input": "1"}]), "expected", id="no expected output"),
        pytest.param(
            _problem(STDIO, tests=[{"input": "", "expected": "", "weight": 0}]),
            "tests",
            id="no weight at all",
        ),
        pytest.param(
            _problem(STDIO, tests=[{"input": "", "expected": "", "weight": -1}]),
            "weight",
            id="negative weight",
        ),
        pytest.param(_problem(STDIO, limits={"cpu_time": 1}), "cpu_time", id="misspelt limit"),
        pytest.param(_problem(STDIO, limits={"cpu_time_s": 0}), "cpu_time_s", id="no time"),
        pytest.param(_problem(STDIO, limits={"cpu_time_s": float("nan")}), "cpu_time_s", id="NaN time"),
        pytest.param(
            _problem(STDIO, limits={"memory_bytes": 1 << 20}), "memory_bytes", id="too little to start"
        ),
        pytest.param(_problem(STDIO, comparison={"abs_tol": -1e-6}), "abs_tol", id="negative tolerance"),
        pytest.param(_problem(STDIO, comparison={"order": "any"}), "order", id="unknown order"),
        pytest.param(
            _problem(STDIO, comparison={"checker": {"code": "x", "language": "c"}}), "language", id="checker"
        ),
        pytest.param(_problem(STDIO, operations=True), "operations", id="a field of another mode"),
        pytest.param(_problem(CALL, entry_point=None), "entry_point", id="nothing to call"),
        pytest.param(_problem(CALL, entry_point="a.b.c"), "entry_point", id="too deep an entry point"),
        pytest.param(_problem(CALL, entry_point="__import__('os')"), "entry_point", id="an expression"),
        pytest.param(_problem(CALL, answer_from="args"), "answer_from", id="unknown answer"),
        pytest.param(_problem(CALL, answer_from="arg1"), "tests.0.args", id="an answer that no test gives"),
        *(
            pytest.param(_problem(CALL, arg_types=["int", kind]), "'arg_types', 1", id=f"argument {kind}")
            for kind in ("Node", "list[list[ListNode]]", "ListNode | None", "Optional[ListNode", "ListNode]")
        ),
        pytest.param(_problem(CALL, return_type="GraphNode"), "return_type", id="a result of unknown nodes"),
        *(
            pytest.param(_problem(STDIO, limits={limit: value}), limit, id=f"{limit} {value!r}")
            for limit in ("cpu_time_s", "memory_bytes", "processes")
            for value in (True, "3")
        ),
        pytest.param(_problem(STDIO, limits={"memory_bytes": 1e9 + 0.5}), "memory_bytes", id="half a byte"),
        pytest.param(_problem(STDIO, comparison={"abs_tol": "1e-3"}), "abs_tol", id="tolerance as text"),
        pytest.param(_problem(CALL, tests=[{"args": 1, "expected": 1}]), "args", id="args is no list"),
        pytest.param(
            _problem(OPERATIONS, tests=[{"args": [["C"], []], "expected": []}]),
            "args",
            id="uneven operations",
        ),
        pytest.param(_problem(OPERATIONS, tests=[{"args": [1], "expected": []}]), "args", id="no operations"),
    ],
)
def test_refuses(body: dict[str, Any], where: str) -> None:
    """What is not the contract's is refused, and the refusal names the field."""
    with pytest.raises(ValidationError) as caught:
        Submission.model_validate(body)
    told = [f"{error['loc']} {error['msg']}" for error in caught.value.errors()]
    assert any(where in text for text in told), told


@pytest.mark.parametrize("limit", ["cpu_time_s", "wall_time_s", "memory_bytes", "output_bytes", "processes"])
def test_maxima_hold_for_problems_and_single_tests(limit: str) -> None:
    """A limit at the server's maximum is taken, one above is refused, wherever it stands."""
    context = {"maxima": Limits(**{limit: 1 << 25})}
    for value, refused in ((1 << 25, False), ((1 << 25) + 1, True)):
        test = {"input": "", "expected": "", "limits": {limit: value}}
        for body in (_problem(STDIO, limits={limit: value}), _problem(STDIO, tests=[test])):
            if refused:
                with pytest.raises(ValidationError, match="maximum"):
                    Submission.model_validate(body, context=context)
            else:
                Submission.model_validate(body, context=context)


def test_a_maximum_is_told_in_full() -> None:
    """Two numbers that differ in their last digit read differently."""
    context = {"maxima": Limits(memory_bytes=1 << 32)}
    with pytest.raises(ValidationError, match=r"4294967297 is over .* 4294967296"):
        Submission.model_validate(_problem(STDIO, limits={"memory_bytes": (1 << 32) + 1}), context=context)


def test_batch_refuses_an_id_twice_but_not_two_without() -> None:
    """Answers are told apart by id, so an id may not repeat; made-up ids never do."""
    nameless = {"code": "pass", "problem": STDIO}
    assert len(Batch.model_validate({"submissions": [nameless, nameless]}).submissions) == 2
    with pytest.raises(ValidationError, match=r"submissions\.1\.id"):
        Batch.model_validate({"submissions": [{**nameless, "id": "a"}, {**nameless, "id": "a"}]})
    with pytest.raises(ValidationError):
        Batch.model_validate({"submissions": []})


def test_a_judgement_survives_the_wire() -> None:
    """What the service writes, a client reads back as the same judgement."""
    judgement = Judgement(
        id="a",
        verdict=Verdict.IE,
        reward=None,
        score=0.5,
        passed=1,
        total=2,
        first_failed=1,
        message="the checker is broken",
        duration_s=0.1,
        isolation="strict",
    )
    text = judgement.model_dump_json()
    assert '"reward":null' in text
    assert Judgement.model_validate_json(text) == judgement
