"""The client when the service and the network fail: judged, or None, but never wrong and never twice."""

from __future__ import annotations

import email.utils
import json
import socket
import threading
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from benchmarks.fault_proxy import PASS, Fault, FaultProxy, Request
from tests.trainer_client.live import PROBLEM, RIGHT, WRONG, serving
from trainer_client import (
    Checker,
    ComparisonOptions,
    EvaluatorClient,
    Limits,
    StdioCase,
    StdioProblem,
    Submission,
    TooManyUnscorableError,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    type Harm = Callable[..., FaultProxy]

QUICK: dict[str, Any] = {"first_backoff_s": 0.01, "max_backoff_s": 0.1}
BATCH = [RIGHT, WRONG, RIGHT, WRONG]
REWARDS = [1.0, 0.0, 1.0, 0.0]


def rewards(url: str | list[str], completions: list[str], **settings: Any) -> list[float | None]:
    deadline_s = settings.pop("deadline_s", 60)
    with EvaluatorClient(url, **QUICK, **settings) as client:
        return client.rewards(completions, [PROBLEM] * len(completions), deadline_s=deadline_s)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault(status=429, retry_after="0"), id="full"),
        pytest.param(Fault(status=503, retry_after="0.05"), id="not ready"),
        pytest.param(Fault(status=503), id="not ready, without a time"),
        pytest.param(Fault(status=502, content_type="text/html"), id="bad gateway"),
        pytest.param(Fault(status=504), id="gateway timeout"),
        pytest.param(Fault(reset=True), id="reset"),
        pytest.param(Fault(cut_after_bytes=0), id="cut before the answer"),
        pytest.param(Fault(cut_after_bytes=120), id="cut within the head"),
        pytest.param(Fault(cut_after_bytes=700), id="cut after the first judgement"),
        pytest.param(Fault(status=500), id="a fault of the service"),
        pytest.param(Fault(status=200, body=b"<html>", content_type="text/html"), id="not an evaluator"),
        pytest.param(Fault(status=200, body=b"{}\n", content_type="application/x-ndjson"), id="no judgement"),
        pytest.param(Fault(status=200, body=b"", content_type="application/x-ndjson"), id="nothing"),
        pytest.param(Fault(hold_s=0.3), id="slow"),
    ],
)
def test_every_sample_is_judged_after_a_fault(harm: Harm, fault: Fault) -> None:
    proxy = harm(fault)
    assert rewards(proxy.url, BATCH) == REWARDS
    assert len(set(proxy.seen.keys)) <= 2


def test_the_time_that_a_service_asks_for_is_kept(harm: Harm) -> None:
    for header in ("1", email.utils.formatdate(time.time() + 6, usegmt=True)):
        proxy = harm(Fault(status=429, retry_after=header))
        started_s = time.monotonic()
        assert rewards(proxy.url, BATCH) == REWARDS
        assert time.monotonic() - started_s >= 0.9


def test_a_service_that_is_away_for_a_while_is_waited_for() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with ExitStack() as stack:
        timer = threading.Timer(1.0, lambda: stack.enter_context(serving(port)))
        timer.start()
        assert rewards(f"http://127.0.0.1:{port}", BATCH) == REWARDS
        timer.join()


def test_with_several_services_the_others_take_over(url: str, harm: Harm, nowhere: str) -> None:
    broken = harm(plan=lambda _: Fault(reset=True))
    assert rewards([nowhere, broken.url, url], BATCH * 4, chunk_submissions=2) == REWARDS * 4


def test_work_is_spread_over_services(harm: Harm) -> None:
    one, other = harm(), harm()
    assert rewards([one.url, other.url], BATCH * 4) == REWARDS * 4
    assert one.seen.forwarded
    assert other.seen.forwarded


def test_a_killed_service_costs_rewards_and_never_makes_them_zero() -> None:
    # Different programs: a service may judge equal ones once.
    slow = [
        f"```python\nimport time; time.sleep(0.2 + {n} / 100); print(sum(map(int, input().split())))\n```"
        for n in range(12)
    ]
    with serving() as (process, address), EvaluatorClient(address, **QUICK) as client:
        judged = threading.Event()
        results: list[Any] = []

        def call() -> None:
            results.append(
                client.evaluate_batch(_submissions(slow), deadline_s=6, on_judgement=lambda _: judged.set())
            )

        thread = threading.Thread(target=call)
        thread.start()
        assert judged.wait(20)
        process.kill()
        thread.join(30)
    (judgements,) = results
    assert len(judgements) == 12
    assert {one.reward for one in judgements} == {1.0, None}
    lost = next(one for one in judgements if one.reward is None)
    assert lost.verdict is Verdict.IE
    assert "not finished within 6 s; last: " in lost.message


def test_a_service_that_never_answers_is_given_up_at_the_deadline_with_what_is_finished(harm: Harm) -> None:
    proxy = harm(plan=lambda request: Fault(hold_s=60) if b"hold" in request.text else PASS)
    started_s = time.monotonic()
    found = rewards(proxy.url, [RIGHT, "hold", WRONG], chunk_submissions=1, deadline_s=3)
    assert found == [1.0, None, 0.0]
    assert time.monotonic() - started_s < 10


def test_a_slow_answer_is_waited_for_and_not_asked_for_again(harm: Harm) -> None:
    proxy = harm(plan=lambda request: Fault(status=404) if request.method == "PUT" else Fault(hold_s=2))
    assert rewards(proxy.url, [RIGHT], stall_s=0.1) == [1.0]
    assert [one.method for one in proxy.seen.requests] == ["PUT", "POST"]


def test_a_silent_service_that_knows_keys_is_asked_again_under_the_same_one(
    keeping_url: str, harm: Harm
) -> None:
    slow = StdioProblem(mode="stdio", tests=PROBLEM.tests[:1], limits=Limits(wall_time_s=0.5))
    proxy = harm(*[Fault(hold_s=60)] * 6)
    with EvaluatorClient(proxy.url, **QUICK, stall_s=0.2) as client:
        assert client.rewards([RIGHT], [slow], deadline_s=60) == [1.0]
    keys = {one.headers["idempotency-key"] for one in proxy.seen.requests if one.method == "POST"}
    assert len(keys) == 1
    assert keeping_url


def test_after_a_cut_a_service_that_knows_keys_judges_nothing_twice(keeping_url: str, harm: Harm) -> None:
    proxy = harm(Fault(cut_after_bytes=300), Fault(cut_after_bytes=300))
    with EvaluatorClient(proxy.url, **QUICK) as client:
        judgements = client.judge(BATCH, [PROBLEM] * 4)
    assert [one.reward for one in judgements] == REWARDS
    batches = [one for one in proxy.seen.requests if one.path == "/evaluate/batch"]
    assert len(batches) == 3
    assert len({(one.headers["idempotency-key"], one.body) for one in batches}) == 1
    assert keeping_url


def test_a_problem_is_uploaded_once_and_named_by_its_id(keeping_url: str, harm: Harm) -> None:
    large = StdioProblem(mode="stdio", tests=[StdioCase(input="1 2\n" + " " * 200_000, expected="3\n")])
    proxy = harm()
    with EvaluatorClient(proxy.url, chunk_submissions=2) as client:
        for _ in range(2):
            assert client.rewards([RIGHT] * 8, [large] * 8) == [1.0] * 8
    uploads = [one for one in proxy.seen.requests if one.method == "PUT"]
    assert len(uploads) == 1
    assert uploads[0].headers["content-encoding"] in {"zstd", "gzip"}
    assert all(len(one.body) < 2000 for one in proxy.seen.requests if one.method == "POST")
    assert keeping_url


def test_problems_that_the_service_lost_are_uploaded_again(keeping_url: str, harm: Harm) -> None:
    proxy = harm()
    with EvaluatorClient(proxy.url) as client:
        assert client.rewards([RIGHT], [PROBLEM]) == [1.0]
        (upload,) = [one for one in proxy.seen.requests if one.method == "PUT"]
        assert httpx.delete(keeping_url + upload.path).is_success
        assert client.rewards([WRONG], [PROBLEM]) == [0.0]
    assert sum(one.method == "PUT" for one in proxy.seen.requests) == 2


@pytest.mark.parametrize("status", [404, 405])
def test_a_service_without_stored_problems_gets_them_inline(harm: Harm, status: int) -> None:
    proxy = harm(plan=lambda request: Fault(status=status) if request.method == "PUT" else PASS)
    with EvaluatorClient(proxy.url, chunk_submissions=2) as client:
        assert client.rewards(BATCH, [PROBLEM] * 4) == REWARDS
        assert client.rewards(BATCH, [PROBLEM] * 4) == REWARDS
    assert sum(one.method == "PUT" for one in proxy.seen.requests) == 1
    assert all(b'"problem":' in one.text for one in proxy.seen.requests if one.method == "POST")


def test_a_later_service_may_say_more(harm: Harm) -> None:
    def newer(request: Request) -> Fault:
        if request.method == "PUT":
            return Fault(status=404)
        lines = [
            {
                "id": one["id"], "index": 0, "verdict": "AC", "reward": 1.0, "score": 1.0, "passed": 1, "total": 1,
                "first_failed": None, "message": "", "duration_s": 0.1, "isolation": "strict", "carbon_g": 0.1,
                "cases": [{"index": 0, "verdict": "AC", "colour": "green"}],
            }
            for one in json.loads(request.text)["submissions"]
        ]  # fmt: skip
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        return Fault(status=200, body=body, content_type="application/x-ndjson; charset=utf-8")

    assert rewards(harm(plan=newer).url, BATCH) == [1.0] * 4


def test_an_answer_to_another_question_is_no_answer(harm: Harm) -> None:
    foreign = (
        b'{"id":"other","verdict":"AC","reward":1.0,"score":1.0,"passed":1,"total":1,"first_failed":null,'
    )
    foreign += b'"message":"","duration_s":0.1,"isolation":"strict"}\n'
    fault = Fault(status=200, body=foreign, content_type="application/x-ndjson")
    proxy = harm(plan=lambda request: fault if request.method == "POST" else Fault(status=404))
    assert rewards(proxy.url, [RIGHT, WRONG]) == [None, None]


def test_one_submission_that_the_service_fails_over_costs_no_other(harm: Harm) -> None:
    proxy = harm(plan=lambda request: Fault(status=500) if b"poison" in request.text else PASS)
    with EvaluatorClient(proxy.url, **QUICK) as client:
        judgements = client.judge([*BATCH, "poison", *BATCH], [PROBLEM] * 9)
    assert [one.reward for one in judgements] == [*REWARDS, None, *REWARDS]
    assert "500" in judgements[4].message
    assert sum(b"poison" in one.text for one in proxy.seen.requests) <= 12


def test_a_body_over_the_services_limit_is_sent_in_parts(harm: Harm) -> None:
    proxy = harm(plan=lambda request: Fault(status=413) if request.text.count(b"completion") > 1 else PASS)
    assert rewards(proxy.url, BATCH) == REWARDS


def test_a_failure_of_the_service_is_asked_about_once_more_and_then_none(harm: Harm) -> None:
    broken = ComparisonOptions(checker=Checker(code="def check(input, expected, actual): return 1 / 0"))
    unjudgeable = PROBLEM.model_copy(update={"comparison": broken})
    proxy = harm()
    with EvaluatorClient(proxy.url, **QUICK) as client:
        judgements = client.judge([RIGHT, RIGHT], [PROBLEM, unjudgeable])
    assert [one.reward for one in judgements] == [1.0, None]
    assert "checker" in judgements[1].message
    batches = [one for one in proxy.seen.requests if one.path == "/evaluate/batch"]
    assert len(batches) == 2
    assert len({one.headers["idempotency-key"] for one in batches}) == 2


def test_a_run_without_a_judge_is_ended_with_a_message_to_act_on(nowhere: str) -> None:
    with EvaluatorClient(nowhere, **QUICK, unscorable_window=8) as client:
        assert client.rewards([RIGHT] * 4, [PROBLEM] * 4, deadline_s=0.2) == [None] * 4
        with pytest.raises(TooManyUnscorableError, match=r"8 of the last 8 samples .*readyz") as caught:
            client.rewards([RIGHT] * 4, [PROBLEM] * 4, deadline_s=0.2)
        assert "no connection" in str(caught.value)
        assert len(caught.value.judgements) == 4
        # Whoever goes on nevertheless is not stopped at once again.
        assert client.rewards([RIGHT] * 4, [PROBLEM] * 4, deadline_s=0.2) == [None] * 4


def test_a_few_unscorable_samples_do_not_end_a_run(harm: Harm) -> None:
    proxy = harm(plan=lambda request: Fault(status=500) if b"poison" in request.text else PASS)
    found = rewards(proxy.url, [*BATCH, "poison"], unscorable_window=5)
    assert found == [*REWARDS, None]


def test_whoever_wants_no_such_end_says_so(nowhere: str) -> None:
    with EvaluatorClient(nowhere, **QUICK, unscorable_window=1, max_unscorable_share=None) as client:
        assert client.rewards([RIGHT] * 4, [PROBLEM] * 4, deadline_s=0.2) == [None] * 4


def _submissions(completions: list[str]) -> list[Submission]:
    return [Submission(completion=text, problem=PROBLEM) for text in completions]
