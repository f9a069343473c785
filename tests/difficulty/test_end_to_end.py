"""Predict, calibrate, select, with a noisy judge behind real HTTP and a real judging service with its sandboxes.

The problems' true difficulty is known, and so is the pass rate of the completions: what has to come out is known too.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.difficulty.chat_server import chat_server, honest, noisy
from tests.difficulty.running import command, read_json, write_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.difficulty.chat_server import ChatServer

ATTEMPTS = 10
RIGHT = "```python\nprint(int(input()) + {index})\n```"
WRONG = (
    "```python\nprint(int(input()) - 1)\n```",
    "I cannot solve this.",
    "```python\nwhile True print(1)\n```",
)


def problem_row(index: int, level: float, **more: Any) -> dict[str, Any]:
    """Return a problem: add ``index`` to a number."""
    tests = [{"input": f"{n}\n", "expected": f"{n + index}\n"} for n in (1, 5, 100)]
    return {
        "id": f"p{index}",
        "prompt": f"Problem {index}, level {level}: add {index} to a number.",
        "problem": json.dumps({"mode": "stdio", "tests": tests}),
        **more,
    }


def completions_row(index: int, right: int, attempts: int = ATTEMPTS) -> dict[str, Any]:
    """Return completions of problem ``index`` of which ``right`` are right."""
    texts = [RIGHT.format(index=index)] * right + [WRONG[place % 3] for place in range(attempts - right)]
    return {"id": f"p{index}", "completions": texts}


def right_of_ten(level: float) -> int:
    """Return how many of ten attempts a reference model makes right: fewer the harder a problem is."""
    return round(10 - level)


LEVELS = [1.0 + 0.25 * step for step in range(36)]


@pytest.fixture(scope="module")
def judge() -> Iterator[ChatServer]:
    """Give a server whose judge is often off by a point or two."""
    with chat_server(noisy(1.5)) as server:
        yield server


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, judge: ChatServer, service_url: str) -> Path:
    """Predict and calibrate once for all tests here."""
    folder = tmp_path_factory.mktemp("difficulty")
    problems = write_rows(
        folder / "problems.jsonl", [problem_row(i, level) for i, level in enumerate(LEVELS)]
    )
    completions = write_rows(
        folder / "completions.jsonl",
        [completions_row(i, right_of_ten(level)) for i, level in enumerate(LEVELS)],
    )
    result = command("predict", folder / "run", problems, "--url", judge.url, "--model", "judge")
    assert result.exit_code == 0, result.output
    result = command("calibrate", folder / "run", problems, completions, "--service", service_url)
    assert result.exit_code == 0, result.output
    return folder


def test_pass_rates_are_those_of_the_completions(run: Path) -> None:
    """Every completion was judged in a sandbox: what is right counts, what is wrong, broken or empty does not."""
    found = read_json(run / "run" / "calibration.json")
    assert found["unscorable"] == 0
    assert [(one["completions"], one["correct"]) for one in found["problems"]] == [
        (ATTEMPTS, right_of_ten(level)) for level in LEVELS
    ]


def test_boundaries_are_where_the_truth_has_them(run: Path) -> None:
    """Easy is up to 3 wrong of 10, so a level of 3.5; hard from 8 wrong on, a level of 7.5: found within the noise."""
    found = read_json(run / "run" / "calibration.json")
    assert found["predicted"] == found["measured"]
    assert found["boundaries"]["medium_from"] == pytest.approx(3.5, abs=0.5)
    assert found["boundaries"]["hard_from"] == pytest.approx(7.5, abs=0.5)
    assert found["correlation"]["spearman"] > 0.95
    assert found["agreement"] > 0.8
    assert found["confusion"][0]["predicted"]["hard"] == found["confusion"][2]["predicted"]["easy"] == 0
    assert found["warnings"] == []


def test_selection_keeps_what_it_should(run: Path) -> None:
    """All hard ones, the most that targets allow, rows as they were, and no problem that is truly far off."""
    result = command("select", run / "run", run / "problems.jsonl")
    assert result.exit_code == 0, result.output
    found = read_json(run / "run" / "selection.json")
    after, before = found["after"], found["before"]
    total = sum(after.values())
    assert after["hard"] == before["hard"]
    assert after["easy"] / total < 0.25
    assert after["hard"] / total > 0.5
    assert total == 2 * before["hard"] - 1
    rows = (run / "problems.jsonl").read_text().splitlines()
    kept = (run / "run" / "selected.jsonl").read_text().splitlines()
    assert len(kept) == total
    assert kept == [row for row in rows if row in kept]
    # Hard beyond the judge's noise.
    truly_hard = {f"p{index}" for index, level in enumerate(LEVELS) if level > 8.5}
    assert truly_hard <= {json.loads(row)["id"] for row in kept}


def test_another_data_set_is_selected_with_the_same_boundaries(
    run: Path, judge: ChatServer, tmp_path: Path
) -> None:
    """Calibrated on one set, selected from another, that has no completions."""
    problems = write_rows(tmp_path / "other.jsonl", [problem_row(100 + i, 4 + 0.2 * i) for i in range(30)])
    command("predict", tmp_path / "run", problems, "--url", judge.url, "--model", "judge")
    calibration = run / "run" / "calibration.json"
    result = command(
        "select", tmp_path / "run", problems, "--calibration", calibration, "--hard-above", "0.4"
    )
    assert result.exit_code == 0, result.output
    assert (
        read_json(tmp_path / "run" / "selection.json")["boundaries"] == read_json(calibration)["boundaries"]
    )


def test_scores_of_another_judge_are_refused(run: Path, judge: ChatServer, tmp_path: Path) -> None:
    """Boundaries of one model's scores say nothing about another's."""
    problems = write_rows(tmp_path / "other.jsonl", [problem_row(1, 9)])
    command("predict", tmp_path / "run", problems, "--url", judge.url, "--model", "another")
    result = command("select", tmp_path / "run", problems, "--calibration", run / "run" / "calibration.json")
    assert result.exit_code == 2
    assert "model 'judge' there, 'another' here" in result.output


def test_calibrating_again_judges_nothing(run: Path, tmp_path: Path) -> None:
    """All verdicts are known: not even a service is needed, also for another k."""
    (tmp_path / "run").mkdir()
    for name in ("prediction.json", "verdicts.jsonl"):
        (tmp_path / "run" / name).write_bytes((run / "run" / name).read_bytes())
    arguments = (run / "problems.jsonl", run / "completions.jsonl", "--service", "http://127.0.0.1:9")
    assert command("calibrate", tmp_path / "run", *arguments).exit_code == 0
    first, again = (read_json(folder / "run" / "calibration.json") for folder in (run, tmp_path))
    assert first == again
    assert command("calibrate", tmp_path / "run", *arguments, "--k", 5).exit_code == 0
    assert read_json(tmp_path / "run" / "calibration.json")["measured"]["hard"] < first["measured"]["hard"]


def test_only_what_lacks_is_judged(run: Path, tmp_path: Path, service_url: str) -> None:
    """With half of the lines lost, and a torn one, the result is the same."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "prediction.json").write_bytes((run / "run" / "prediction.json").read_bytes())
    lines = (run / "run" / "verdicts.jsonl").read_text().splitlines(keepends=True)
    half = "".join(lines[: len(lines) // 2])
    journal = tmp_path / "run" / "verdicts.jsonl"
    journal.write_text(half + lines[-1][:20])
    result = command(
        "calibrate",
        tmp_path / "run",
        run / "problems.jsonl",
        run / "completions.jsonl",
        "--service",
        service_url,
    )
    assert result.exit_code == 0, result.output
    assert journal.read_text().startswith(half)
    assert sorted(journal.read_text().splitlines()) == sorted(line.rstrip("\n") for line in lines)
    assert read_json(tmp_path / "run" / "calibration.json") == read_json(run / "run" / "calibration.json")


def test_interrupted_while_judging(run: Path, tmp_path: Path, service_url: str) -> None:
    """Ctrl-C keeps the verdicts that came; the same command asks for the others only."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "prediction.json").write_bytes((run / "run" / "prediction.json").read_bytes())
    busy = "```python\nimport time\nend = time.process_time() + 0.06\nwhile time.process_time() < end: pass\n{rest}\n```"
    rows = [
        {
            "id": f"p{i}",
            "completions": [busy.format(rest=f"print(int(input()) + {i}) # {n}") for n in range(5)],
        }
        for i in range(0, 36, 3)
    ]
    completions = write_rows(tmp_path / "completions.jsonl", rows)
    arguments = [tmp_path / "run", run / "problems.jsonl", completions, "--service", service_url]
    journal = tmp_path / "run" / "verdicts.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "trainer_client.difficulty", "calibrate", *map(str, arguments)],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not journal.exists() or journal.read_bytes().count(b"\n") < 3:
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in complaint
    kept = journal.read_text()
    assert 2 <= len(kept.splitlines()) - 1 < 24
    assert command("calibrate", *arguments).exit_code == 0
    assert journal.read_text().startswith(kept)
    lines = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert len({(line["problem"], line["index"]) for line in lines}) == len(lines) == 24
    assert {line["verdict"] for line in lines} == {"AC"}


@pytest.mark.parametrize(
    ("changed", "complaint"), [("completion", "completion 0 differ"), ("tests", "its tests differ")]
)
def test_other_work_under_the_same_name_is_refused(
    changed: str, complaint: str, run: Path, tmp_path: Path, service_url: str
) -> None:
    """A verdict is of one completion against one suite."""
    (tmp_path / "run").mkdir()
    for name in ("prediction.json", "verdicts.jsonl"):
        (tmp_path / "run" / name).write_bytes((run / "run" / name).read_bytes())
    problems = [json.loads(line) for line in (run / "problems.jsonl").read_text().splitlines()]
    completions = [json.loads(line) for line in (run / "completions.jsonl").read_text().splitlines()]
    if changed == "tests":
        problems[3]["problem"] = problems[4]["problem"]
    else:
        completions[3]["completions"][0] = "something else"
    result = command(
        "calibrate",
        tmp_path / "run",
        write_rows(tmp_path / "problems.jsonl", problems),
        write_rows(tmp_path / "completions.jsonl", completions),
        "--service",
        service_url,
    )
    assert result.exit_code == 2
    assert f"problem 'p3': {complaint}" in result.output


def test_what_is_left_out_is_said(tmp_path: Path, service_url: str, judge: ChatServer) -> None:
    """Too few completions, no tests, no score, no such problem: each with its name and reason, none with a guess."""
    rows = [
        problem_row(0, 2),
        problem_row(1, 8),
        problem_row(2, 5),
        {**problem_row(3, 5), "problem": None, "tests": "[]"},
        problem_row(4, 5),
    ]
    problems = write_rows(tmp_path / "rated.jsonl", rows[:4])
    command("predict", tmp_path / "run", problems, "--url", judge.url, "--model", "judge")
    write_rows(problems, rows)
    completions = [completions_row(0, 10), completions_row(1, 0), completions_row(2, 1, attempts=3)]
    completions += [completions_row(3, 5), completions_row(4, 5), completions_row(77, 5)]
    result = command(
        "calibrate",
        tmp_path / "run",
        problems,
        write_rows(tmp_path / "completions.jsonl", completions),
        "--service",
        service_url,
        "--min-completions",
        4,
    )
    assert result.exit_code == 0, result.output
    found = read_json(tmp_path / "run" / "calibration.json")
    assert [one["problem"] for one in found["problems"]] == ["p0", "p1"]
    assert [(one["problem"], one["reason"]) for one in found["left_out"]] == [
        ("p2", "3 completions, at least 4 needed"),
        ("p3", "its tests cannot be used: inputs, outputs: no tests; nothing tested is never a pass"),
        ("p4", "no score: never rated"),
        ("p77", "not in rated.jsonl"),
    ]
    assert "p77: not in rated.jsonl" in result.output


def test_a_problem_that_the_service_refuses_is_named(tmp_path: Path, service_url: str) -> None:
    """By its own name, not by its place in a request."""
    row = problem_row(0, 2)
    problem = json.loads(row["problem"]) | {"limits": {"cpu_time_s": 1e6}}
    with chat_server(honest) as server:
        problems = write_rows(tmp_path / "problems.jsonl", [problem_row(1, 3), {**row, "problem": problem}])
        command("predict", tmp_path / "run", problems, "--url", server.url, "--model", "judge")
    completions = write_rows(tmp_path / "completions.jsonl", [completions_row(1, 1), completions_row(0, 1)])
    result = command("calibrate", tmp_path / "run", problems, completions, "--service", service_url)
    assert result.exit_code == 1
    assert "problem 'p0', completion 0" in result.output


def test_a_service_that_is_not_there_makes_no_wrong_answers(run: Path, tmp_path: Path) -> None:
    """Nobody judged: nothing to calibrate on, and no verdict written down."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "prediction.json").write_bytes((run / "run" / "prediction.json").read_bytes())
    arguments = (run / "problems.jsonl", run / "completions.jsonl", "--service", "http://127.0.0.1:9")
    result = command("calibrate", tmp_path / "run", *arguments)
    assert result.exit_code == 1
    assert "no service answers: http://127.0.0.1:9: " in result.output
    assert not (tmp_path / "run" / "calibration.json").exists()
    assert len((tmp_path / "run" / "verdicts.jsonl").read_text().splitlines()) == 1


def test_what_nobody_could_judge_is_left_out(tmp_path: Path, service_url: str) -> None:
    """A broken checker is the problem's fault, not the completions': no pass rate of 0, and no verdict to be kept."""
    row = problem_row(0, 2)
    checker = {"code": "def check(input, expected, actual):\n    return 1 / 0\n"}
    problem = json.loads(row["problem"]) | {"comparison": {"checker": checker}}
    with chat_server(honest) as server:
        problems = write_rows(
            tmp_path / "problems.jsonl", [{**row, "problem": problem}, problem_row(1, 8), problem_row(2, 3)]
        )
        command("predict", tmp_path / "run", problems, "--url", server.url, "--model", "judge")
    completions = write_rows(
        tmp_path / "completions.jsonl",
        [completions_row(0, 4, 4), completions_row(1, 1), completions_row(2, 9)],
    )
    result = command("calibrate", tmp_path / "run", problems, completions, "--service", service_url)
    assert result.exit_code == 0, result.output
    found = read_json(tmp_path / "run" / "calibration.json")
    assert [one["problem"] for one in found["problems"]] == ["p1", "p2"]
    assert found["left_out"] == [
        {"problem": "p0", "reason": "0 completions (4 more nobody could judge), at least 1 needed"}
    ]
    assert found["unscorable"] == 4
    assert "4 completions nobody could judge; the same command asks for them again" in result.output
    assert '"p0"' not in (tmp_path / "run" / "verdicts.jsonl").read_text()


def test_pictures_and_pages_are_written(run: Path) -> None:
    """Each beside its document."""
    command("select", run / "run", run / "problems.jsonl")
    for name in ("calibration", "selection"):
        assert (run / "run" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        page = (run / "run" / f"{name}.html").read_text()
        assert "<svg" in page
        assert read_json(run / "run" / f"{name}.json")["schema_version"] == 1
