"""``microcoder judge`` judges files and packages through real workers and says whether all is as expected."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from service.cli import main
from service.packages import PackageSubmission, load_package

PROBLEMS = Path(__file__).parents[1] / "problems"
DOUBLE = {
    "mode": "stdio",
    "tests": [{"input": "2\n", "expected": "4\n"}, {"input": "3\n", "expected": "6\n"}],
}
CALL = {"mode": "call", "entry_point": "f", "tests": [{"args": [1], "expected": 1}]}
RIGHT, WRONG = "print(int(input()) * 2)\n", "print(int(input()) + 2)\n"


def judge(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "service.cli", "judge", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=PROBLEMS.parents[1],
    )


def report(*arguments: str | Path) -> dict[str, Any]:
    run = judge("--json", *arguments)
    assert run.returncode in {0, 1}, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    assert found["summary"]["differing"] == 0 or run.returncode == 1
    return found


def written(folder: Path, name: str, *documents: object) -> Path:
    file = folder / name
    file.write_text("\n".join(map(json.dumps, documents)))
    return file


SUBMISSIONS = [
    pytest.param(folder / one.path, one, id=f"{folder.name}/{one.path.removeprefix('submissions/')}")
    for folder in sorted(PROBLEMS.iterdir())
    for one in load_package(folder).submissions
]


@pytest.fixture(scope="module")
def all_packages() -> tuple[int, dict[str, Any]]:
    """Judge every package of this project once; give exit status and report."""
    run = judge("--json", PROBLEMS)
    return run.returncode, json.loads(run.stdout)


@pytest.mark.parametrize(("path", "submission"), SUBMISSIONS)
def test_a_submission_gets_the_verdict_that_its_folder_says(
    all_packages: tuple[int, dict[str, Any]], path: Path, submission: PackageSubmission
) -> None:
    (result,) = [one for one in all_packages[1]["results"] if one["file"] == str(path)]
    assert submission.expected is not None
    assert result["verdict"] in set(submission.expected), result["judgement"]["message"]


def test_packages_as_expected_exit_with_0_and_list_what_was_skipped(
    all_packages: tuple[int, dict[str, Any]],
) -> None:
    status, found = all_packages
    assert status == 0
    assert found["summary"] == {
        "judged": len(SUBMISSIONS),
        "as_expected": len(SUBMISSIONS),
        "differing": 0,
        "skipped": 2,
    }
    assert [(Path(one["file"]).name, one["reason"]) for one in found["skipped"]] == [
        ("other.cpp", "not Python (.cpp)"),
        ("two_files", "a program of 2 files; programs of one file are judged"),
    ]


def test_a_labelled_set_is_measured_against_its_labels(tmp_path: Path) -> None:
    labelled = {
        "id": "double",
        "problem": DOUBLE,
        "submissions": [
            {"file": "a.py", "code": RIGHT},
            {"file": "b.py", "code": WRONG, "expect": "WA"},
            {"file": "c.py", "code": WRONG, "truth": "reject"},
            {"id": "d", "completion": f"So:\n```python\n{RIGHT}```\n", "expect": ["AC", "TLE"]},
            {"id": "e", "completion": "I cannot.", "verdicts": ["NC"]},
            {"id": "f", "code": RIGHT, "truth": "reject"},
            {"id": "g", "code": WRONG},
        ],
    }
    file = written(tmp_path, "set.json", labelled)
    found = report(file)
    assert [(one["file"], one["verdict"], one["as_expected"]) for one in found["results"]] == [
        (f"{file}[a.py]", "AC", True),
        (f"{file}[b.py]", "WA", True),
        (f"{file}[c.py]", "WA", True),
        (f"{file}[d]", "AC", True),
        (f"{file}[e]", "NC", True),
        (f"{file}[f]", "AC", False),
        (f"{file}[g]", "WA", False),
    ]


def test_lines_may_be_submissions_batches_and_sets(tmp_path: Path) -> None:
    submission = {"id": "one", "code": RIGHT, "problem": DOUBLE}
    batch = {
        "submissions": [submission, {**submission, "id": "two", "code": WRONG}],
        "options": {"detail": "none"},
    }
    labelled = {"problem": DOUBLE, "submissions": [{"code": WRONG, "expect": "WA"}]}
    file = written(tmp_path, "all.jsonl", submission, batch, labelled)
    found = report(file)
    assert [(one["file"], one["verdict"], one["as_expected"]) for one in found["results"]] == [
        (f"{file}:1", "AC", True),
        (f"{file}:2[one]", "AC", True),
        (f"{file}:2[two]", "WA", False),
        (f"{file}:3[0]", "WA", True),
    ]
    assert found["results"][2]["judgement"]["cases"] == []


def test_programs_are_judged_against_a_problem_given_beside_them(tmp_path: Path) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    problem = written(tmp_path, "problem.json", DOUBLE)
    run = judge("--problem", problem, tmp_path / "right.py", tmp_path / "wrong.py")
    assert run.returncode == 1
    right, wrong = (
        next(line for line in run.stdout.split("\n") if name in line) for name in ("right", "wrong")
    )
    assert right.split()[1:4] == ["AC", "AC", "2/2"]
    assert wrong.split()[1:4] == ["AC", "WA", "1/2"]
    assert "2 judged: 1 as expected, 1 not; 0 skipped" in run.stdout
    assert run.stderr == ""


def test_flags_change_how_it_is_judged(tmp_path: Path) -> None:
    problem = {"mode": "stdio", "tests": [{"input": "", "expected": text} for text in ("1 2", "0.5")]}
    file = written(tmp_path, "a.json", {"code": "print('1\\t2')", "problem": problem})
    (default,) = report(file)["results"]
    (strict,) = report("--profile", "strict", "--all-tests", "--detail", "full", "--workers", "1", file)[
        "results"
    ]
    assert [default["judgement"]["passed"], strict["judgement"]["passed"]] == [1, 0]
    assert [case["verdict"] for case in strict["judgement"]["cases"]] == ["WA", "WA"]


BAD_INPUT = [
    pytest.param("a.json", "{", "a.json: the body is no JSON", id="no JSON"),
    pytest.param("a.json", "[]", "a.json: must be a JSON object", id="no object"),
    pytest.param(
        "a.json", json.dumps({"code": ""}), "exactly one of `problem` and `problem_id`", id="no problem"
    ),
    pytest.param(
        "a.json", json.dumps({"code": "", "problem_id": "x"}), "problem_id: needs a server", id="stored"
    ),
    pytest.param(
        "a.json",
        json.dumps({"problem": {**DOUBLE, "tests": []}, "submissions": [{"code": ""}]}),
        "a.json: problem.tests: List should have at least 1 item",
        id="no tests",
    ),
    pytest.param(
        "a.json",
        json.dumps({"problem": DOUBLE, "submissions": [{"code": "", "expect": "OK"}]}),
        "a.json: submissions.0.expect.0: Input should be 'AC'",
        id="unknown verdict",
    ),
    pytest.param(
        "a.json",
        json.dumps({"problem": DOUBLE, "submissions": [{"code": "", "expect": []}]}),
        "a.json: submissions.0.expect: List should have at least 1 item",
        id="no verdict",
    ),
    pytest.param(
        b"\xff.json".decode("utf-8", "surrogateescape"),
        json.dumps({"code": RIGHT, "problem": DOUBLE}),
        "the file's name is not UTF-8",
        id="a name that is not UTF-8",
    ),
    pytest.param(
        "a.json",
        json.dumps({"problem": {**DOUBLE, "comparison": {"profile": "lax"}}, "submissions": [{"code": ""}]}),
        "problem.comparison.profile: 'lax' is none of",
        id="unknown profile",
    ),
    pytest.param(
        "a.json",
        json.dumps({"code": "", "language": "cobol", "problem": DOUBLE}),
        "language: 'cobol'",
        id="language",
    ),
    pytest.param("a.jsonl", "\n\n{", "a.jsonl:3: the body is no JSON", id="a line that is no JSON"),
    pytest.param("a.jsonl", "\n", "there is nothing to judge", id="no lines"),
    pytest.param("a.py", RIGHT, "a program needs --problem", id="a program alone"),
]


@pytest.mark.parametrize(("name", "text", "message"), BAD_INPUT)
def test_bad_input_exits_with_2_and_names_file_and_field(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    result = CliRunner().invoke(main, ["judge", str(tmp_path / name)])
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_folders_without_something_to_judge_are_refused(tmp_path: Path) -> None:
    package = tmp_path / "p"
    for name, text in {"problem.yaml": "", "data/secret/1.in": "", "data/secret/1.ans": ""}.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(text)
    (package / "submissions/accepted").mkdir(parents=True)
    (package / "submissions/accepted/a.cpp").touch()
    for folder, message in ((package, "a.cpp: not Python"), (package / "data", "is no problem package")):
        result = CliRunner().invoke(main, ["judge", str(folder)])
        assert result.exit_code == 2
        assert message in result.stderr


def test_an_unusable_sandbox_exits_with_2_and_says_what_to_do(tmp_path: Path) -> None:
    file = written(tmp_path, "a.json", {"code": RIGHT, "problem": DOUBLE})
    run = judge("--json", "--python", tmp_path / "no-python", file)
    assert (run.returncode, run.stdout) == (2, "")
    assert "no-python" in run.stderr
    assert "Cure: " in run.stderr


@pytest.mark.parametrize("flags", ["--json", "--workers=1"])
def test_a_report_that_cannot_be_written_exits_with_2(tmp_path: Path, flags: str) -> None:
    file = written(tmp_path, "a.json", {"code": RIGHT, "problem": DOUBLE})
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "service.cli", "judge", flags, file],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=60,
            cwd=PROBLEMS.parents[1],
        )  # fmt: skip
    assert (run.returncode, run.stderr) == (
        2,
        "Error: the report cannot be written to standard output: No space left on device\n",
    )


def test_it_works_without_standard_descriptors(tmp_path: Path) -> None:
    for code, status in ((RIGHT, 0), (WRONG, 1)):
        file = written(tmp_path, "a.json", {"code": code, "problem": DOUBLE})
        command = [sys.executable, "-m", "service.cli", "judge", "--workers", "1", str(file)]
        shell = ["sh", "-c", '"$@" <&- >&- 2>&-', "sh", *command]
        run = subprocess.run(shell, check=False, timeout=60, cwd=PROBLEMS.parents[1])
        assert run.returncode == status


def test_help_is_answered_without_importing_the_service() -> None:
    code = (
        "import sys, service.cli as cli\n"
        "try: cli.main(['--help'])\n"
        "finally: print(*sys.modules, file=sys.stderr)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(PROBLEMS.parents[1])},
    )
    assert "judge" in run.stdout
    assert "serve" in run.stdout
    assert not {"pydantic", "fastapi", "uvicorn", "rich", "yaml"} & set(run.stderr.split())


def test_an_unknown_command_is_refused() -> None:
    result = CliRunner().invoke(main, ["juge"])
    assert result.exit_code == 2
    assert "No such command 'juge'" in result.stderr


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc here")
def test_programs_of_other_languages_are_judged_in_one_set(tmp_path: Path) -> None:
    source = '#include <stdio.h>\nint main(void) {{ int a; scanf("%d", &a); printf("%d\\n", a {} 2); }}'
    submissions = [
        {"id": "right", "language": "c", "code": source.format("*")},
        {"id": "wrong", "language": "c", "completion": f"```c\n{source.format('+')}\n```", "expect": "WA"},
        {"id": "broken", "language": "c", "code": source.format("?"), "expect": "CE"},
        {"id": "python", "code": RIGHT},
    ]
    file = written(tmp_path, "set.json", {"problem": DOUBLE, "submissions": submissions})
    assert [one["verdict"] for one in report(file)["results"]] == ["AC", "WA", "CE", "AC"]
    run = judge(written(tmp_path, "call.json", {"code": "", "language": "c", "problem": CALL}))
    assert run.returncode == 2
    assert "call.json: language: 'c': programs in c can be tested in mode stdio only" in run.stderr
