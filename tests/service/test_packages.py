"""``load_package`` reads what a package says and refuses, by file and field, what it cannot judge."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.packages import Package, PackageError, load_package
from service.wire import StdioProblem, Verdict

PROBLEMS = Path(__file__).parents[1] / "problems"
MIB = 1 << 20


@pytest.fixture
def package(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes a package: a minimal one, with files added or (None) left out."""

    def write(files: dict[str, str | bytes | None] | None = None) -> Path:
        minimal: dict[str, str | bytes | None] = {
            "problem.yaml": "name: A\n",
            "data/secret/1.in": "1\n",
            "data/secret/1.ans": "2.5\n",
        }
        for name, text in {**minimal, **(files or {})}.items():
            if text is not None:
                path = tmp_path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path

    return write


def expectations(package: Package) -> dict[str, set[str] | None]:
    return {one.path: None if one.expected is None else set(one.expected) for one in package.submissions}


@pytest.mark.parametrize("folder", sorted(PROBLEMS.iterdir()), ids=lambda path: path.name)
def test_every_package_of_this_project_loads(folder: Path) -> None:
    loaded = load_package(folder)
    assert loaded.name == folder.name
    assert any(one.expected == frozenset({Verdict.AC}) for one in loaded.submissions)
    assert any(one.expected == frozenset({Verdict.WA}) for one in loaded.submissions)


def test_tests_come_samples_first_then_by_name_with_groups_in_place(package: Callable[..., Path]) -> None:
    names = ["secret/b", "secret/a/2", "sample/z", "secret/a/10", "secret/c/x/1"]
    files = {f"data/{name}{suffix}": f"{name}\r\n" for name in names for suffix in (".in", ".ans")}
    problem = load_package(package(files)).problem
    assert [test.id for test in problem.tests] == [
        "sample/z", "secret/1", "secret/a/10", "secret/a/2", "secret/b", "secret/c/x/1",
    ]  # fmt: skip
    assert problem.tests[0].input == "sample/z\r\n"


def test_other_folders_of_the_data_hold_no_tests(package: Callable[..., Path]) -> None:
    root = package(
        {"data/invalid_input/1.in": "x\n", "data/secret/1.hint": "h\n", "data/secret/1.png": b"\xff"}
    )
    assert len(load_package(root).problem.tests) == 1


def test_a_loop_of_folders_is_not_followed_twice(package: Callable[..., Path]) -> None:
    root = package()
    (root / "data/secret/again").symlink_to("../secret")
    (root / "data/sample").symlink_to("secret")
    tests = load_package(root).problem.tests
    assert [test.id for test in tests] == ["sample/1", "secret/1"]


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("name: A\nvalidation: default\nname: B\n", "name"),
        ("limits: {memory: 1, memory: 2048}", "memory"),
    ],
)
def test_a_repeated_key_is_refused_by_name(package: Callable[..., Path], text: str, key: str) -> None:
    with pytest.raises(PackageError, match=rf"problem\.yaml: .*duplicate key '{key}'"):
        load_package(package({"problem.yaml": text}))


def test_keys_that_a_merge_overrides_are_not_repeated(package: Callable[..., Path]) -> None:
    text = "base: &base {memory: 512, time_limit: 1}\nlimits: {<<: *base, memory: 64}\n"
    limits = load_package(package({"problem.yaml": text})).problem.limits
    assert (limits.cpu_time_s, limits.memory_bytes) == (1.0, 64 * MIB)


LIMITS = [
    pytest.param({}, (None, 2048 * MIB, None), id="none given"),
    pytest.param({"problem.yaml": "limits: {time_limit: 1.5}"}, (1.5, 2048 * MIB, None), id="2023-07"),
    pytest.param(
        {"problem.yaml": "limits: {memory: 512, output: 4}"}, (None, 512 * MIB, 4 * MIB), id="in MiB"
    ),
    pytest.param(
        {"problem.yaml": "limits:\n", ".timelimit": "7\n"}, (7.0, 2048 * MIB, None), id=".timelimit"
    ),
    pytest.param(
        {"domjudge-problem.ini": "timelimit='3'\ncolor='#fff'\n"}, (3.0, 2048 * MIB, None), id="domjudge"
    ),
    pytest.param(
        {"problem.yaml": "limits: {time_limit: 2}", ".timelimit": "7"},
        (2.0, 2048 * MIB, None),
        id="problem.yaml first",
    ),
]


@pytest.mark.parametrize(("files", "expected"), LIMITS)
def test_limits(
    package: Callable[..., Path], files: dict[str, str], expected: tuple[float | None, int, int | None]
) -> None:
    limits = load_package(package(files)).problem.limits
    assert (limits.cpu_time_s, limits.memory_bytes, limits.output_bytes) == expected


OPTIONS = [
    pytest.param("", "", {"ignore_case": True, "abs_tol": 0.0, "rel_tol": 0.0}, id="the format's default"),
    pytest.param("case_sensitive", "", {"ignore_case": False, "abs_tol": 0.0}, id="case"),
    pytest.param("float_tolerance 1e-4", "", {"abs_tol": 1e-4, "rel_tol": 1e-4}, id="both tolerances"),
    pytest.param("float_absolute_tolerance 1e-4", "", {"abs_tol": 1e-4, "rel_tol": 0.0}, id="absolute"),
    pytest.param("float_relative_tolerance 1e-4", "", {"abs_tol": 0.0, "rel_tol": 1e-4}, id="relative"),
    pytest.param(
        "case_sensitive", "float_tolerance 1e-4", {"ignore_case": False, "abs_tol": 1e-4}, id="added"
    ),
]


@pytest.mark.parametrize(("flags", "group_flags", "expected"), OPTIONS)
def test_validator_flags_become_comparison_options(
    package: Callable[..., Path], flags: str, group_flags: str, expected: dict[str, Any]
) -> None:
    root = package(
        {
            "problem.yaml": f"validator_flags: {flags}\n",
            "data/testdata.yaml": f"output_validator_flags: {group_flags}\n",
        }
    )
    comparison = load_package(root).problem.comparison
    assert comparison.checker is None
    assert {name: getattr(comparison, name) for name in expected} == expected


def run_checker(problem: StdioProblem, input_text: str, expected: str, actual: str) -> tuple[bool, str]:
    """Call the checker's ``check`` here; end-to-end tests run it in its jail."""
    checker = problem.comparison.checker
    assert checker is not None
    names: dict[str, Any] = {}
    exec(compile(checker.code, "checker", "exec"), names)  # noqa: S102 -- our own code, and the test's validator
    accepted, feedback = names["check"](input_text, expected, actual)
    return accepted, feedback


SPACES = "space_change_sensitive"
TOKENS = [
    (f"{SPACES} case_sensitive", "a b\n", "a b\n", True),
    (f"{SPACES} case_sensitive", "a b\n", "a  b\n", False),
    (f"{SPACES} case_sensitive", "a b\n", "a b", False),
    (f"{SPACES} case_sensitive", "a b\n", "A b\n", False),
    (SPACES, "a b\n", "A b\n", True),
    (f"{SPACES} float_tolerance 0.1", " 1.5\n", " 1.55\n", True),
    ("float_tolerance 1e-6", "5\n", "5.0000001\n", True),
    ("float_tolerance 1e-6", "5\n", "5.1\n", False),
    ("float_tolerance 1e-6", "5\n", "five\n", False),
    ("float_tolerance 1e-6", "5\n", "nan\n", False),
    ("float_absolute_tolerance 1e-6", "1000000000\n", "1000000001\n", False),
    ("float_relative_tolerance 1e-6", "1000000000\n", "1000000001\n", True),
    ("float_tolerance 1e-6", "5 x\n", "5.0 X\n", True),
    ("float_tolerance 1e-6", "5\n", "5 5\n", False),
    ("float_tolerance 1e-6", "5 5\n", "5\n", False),
]


@pytest.mark.parametrize(("flags", "expected", "actual", "accepted"), TOKENS)
def test_flags_without_an_option_are_judged_by_the_formats_own_rules(
    package: Callable[..., Path], flags: str, expected: str, actual: str, *, accepted: bool
) -> None:
    root = package({"problem.yaml": f"validator_flags: {flags}\n", "data/secret/1.ans": expected})
    found, feedback = run_checker(load_package(root).problem, "", expected, actual)
    assert found is accepted
    assert bool(feedback) is not accepted


VALIDATOR = """
import os, pathlib, sys
given, answer = (pathlib.Path(name).read_text() for name in sys.argv[1:3])
with open(os.path.join(sys.argv[3], "judgemessage.txt"), "w") as file:
    file.write(f"{given.strip()} {answer.strip()} {sys.argv[4:]}")
print("standard output is nobody's business")
word = READ
if word == "crash":
    raise ValueError("no such word")
sys.exit({"right": 42, "wrong": 43}.get(word, 7))
"""
READINGS = [
    "sys.stdin.read().strip()",
    "input()",
    "os.read(0, 100).decode().strip()",
    "open(0, closefd=False).read().strip()",
]


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize(
    "file", ["output_validators/check.py", "output_validator/check.py", "output_validators/a/b.py"]
)
def test_a_python_validator_is_run_in_the_formats_terms(
    package: Callable[..., Path], reading: str, file: str
) -> None:
    root = package({file: VALIDATOR.replace("READ", reading), "problem.yaml": "validator_flags: one 2\n"})
    problem = load_package(root).problem
    assert run_checker(problem, "in\n", "ans\n", "right\n") == (True, "in ans ['one', '2']")
    assert run_checker(problem, "in\n", "ans\n", "wrong\n") == (False, "in ans ['one', '2']")


@pytest.mark.parametrize(("output", "error"), [("other\n", "exit code 7"), ("crash\n", "no such word")])
def test_a_validators_own_fault_is_raised_and_not_held_against_the_program(
    package: Callable[..., Path], output: str, error: str
) -> None:
    root = package({"output_validators/check.py": VALIDATOR.replace("READ", "input()")})
    with pytest.raises((RuntimeError, ValueError), match=error):
        run_checker(load_package(root).problem, "", "", output)


def test_a_validator_may_have_modules_of_its_own_and_leaves_none_behind(package: Callable[..., Path]) -> None:
    main = "import sys, rules\nsys.exit(rules.code(input()))\n"
    files = {"output_validator/__main__.py": main, "output_validator/__init__.py": ""}
    for good, bad in (("yes", "no"), ("no", "yes")):
        rules = f"def code(word): return 42 if word == {good!r} else 43\n"
        problem = load_package(package({**files, "output_validator/rules.py": rules})).problem
        assert run_checker(problem, "", "", good)[0] is True
        assert run_checker(problem, "", "", bad)[0] is False


FOLDERS = [
    ("accepted", {"AC"}),
    ("wrong_answer", {"WA"}),
    ("time_limit_exceeded", {"TLE"}),
    ("run_time_error", {"RE", "MLE"}),
    ("memory_limit_exceeded", {"RE", "MLE"}),
    ("output_limit_exceeded", {"OLE"}),
    ("compiler_error", {"CE"}),
    ("rejected", {"WA", "TLE", "MLE", "OLE", "RE"}),
    ("partially_accepted", {"WA", "TLE", "MLE", "OLE", "RE"}),
    ("brute_force", {"TLE", "MLE", "RE"}),
    ("mine", None),
]


@pytest.mark.parametrize(("folder", "verdicts"), FOLDERS)
def test_a_folder_says_what_is_right(
    package: Callable[..., Path], folder: str, verdicts: set[str] | None
) -> None:
    loaded = load_package(package({f"submissions/{folder}/a.py": "print(1)\n"}))
    assert expectations(loaded) == {f"submissions/{folder}/a.py": verdicts}


def test_a_comment_in_the_file_overrules_the_folder(package: Callable[..., Path]) -> None:
    code = "# @EXPECTED_RESULTS@: WRONG-ANSWER, run_time_error\nprint(1)\n"
    loaded = load_package(
        package({"submissions/mixed/a.py": code, "submissions/accepted/b.py": "'''\n" + code + "'''"})
    )
    assert set(map(str, loaded.submissions[0].expected or ())) == {"WA", "RE", "MLE"}
    assert loaded.submissions[0].expected == loaded.submissions[1].expected


def test_an_entry_of_submissions_yaml_overrules_the_folder(package: Callable[..., Path]) -> None:
    rules = """
        wrong_answer: {permitted: [AC, WA, TLE], required: [WA]}
        mine/*.py: {permitted: [AC, TLE]}
        accepted/a.py: {model_solution: true}
    """
    names = ["wrong_answer/a.py", "mine/b.py", "accepted/a.py"]
    files = {f"submissions/{name}": "print(1)\n" for name in names}
    loaded = load_package(package({**files, "submissions/submissions.yaml": rules}))
    assert expectations(loaded) == {
        "submissions/accepted/a.py": {"AC"},
        "submissions/mine/b.py": {"AC", "TLE"},
        "submissions/wrong_answer/a.py": {"WA", "OLE", "TLE"},
    }


def test_what_is_not_judged_is_listed_with_the_reason(package: Callable[..., Path]) -> None:
    files: dict[str, str] = {
        "submissions/accepted/a.cpp": "",
        "submissions/accepted/b.py": "#!/usr/bin/env python2\nprint 1\n",
        "submissions/accepted/c/main.py": "",
        "submissions/accepted/c/other.py": "",
        "submissions/accepted/d/main.py": "print(1)\n",
    }
    loaded = load_package(package(files))
    assert [(one.path[-4:], one.reason) for one in loaded.skipped] == [
        ("a.cpp"[-4:], "not Python (.cpp)"),
        ("b.py", "Python 2"),
        ("ed/c", "a program of 2 files; programs of one file are judged"),
    ]
    assert [one.path for one in loaded.submissions] == ["submissions/accepted/d"]


REFUSED: list[tuple[str, dict[str, str | bytes | None], str]] = [
    ("no problem.yaml", {"problem.yaml": None}, r"problem\.yaml: cannot be read"),
    ("no yaml", {"problem.yaml": "a: [\n"}, r"problem\.yaml: cannot be read: while parsing"),
    ("a list", {"problem.yaml": "- a\n"}, r"problem\.yaml: must be a mapping"),
    ("a Python object", {"problem.yaml": "!!python/object/apply:os.getpid []\n"}, "cannot be read"),
    ("memory", {"problem.yaml": "limits: {memory: lots}"}, r"problem\.yaml: limits\.memory: "),
    ("little memory", {"problem.yaml": "limits: {memory: 1}"}, r"limits\.memory: .*16777216"),
    ("no time", {"problem.yaml": "limits: {time_limit: 0}"}, r"limits\.time_limit: "),
    ("output", {"problem.yaml": "limits: {output: .nan}"}, r"limits\.output: "),
    ("limits", {"problem.yaml": "limits: 5"}, r"problem\.yaml: limits: "),
    ("timelimit", {".timelimit": "soon"}, r"\.timelimit: must be a number of seconds"),
    ("ini", {"domjudge-problem.ini": "timelimit=-1"}, r"domjudge-problem\.ini: timelimit: "),
    ("interactive", {"problem.yaml": "type: [scoring, interactive]"}, "type: interactive"),
    ("interactive, legacy", {"problem.yaml": "validation: custom interactive"}, "interactive"),
    ("no validator", {"problem.yaml": "validation: custom"}, "validation: is custom, but there is no"),
    ("constants", {"problem.yaml": "constants: {n: 5}"}, "constants: "),
    ("unknown flag", {"problem.yaml": "validator_flags: fuzzy"}, "validator_flags: .*'fuzzy'"),
    ("no number", {"problem.yaml": "validator_flags: float_tolerance"}, "float_tolerance needs"),
    ("quotation", {"problem.yaml": """validator_flags: "'a" """}, "No closing quotation"),
    ("no tests", {"data/secret/1.in": None, "data/secret/1.ans": None}, "data: has no tests"),
    ("no answer", {"data/secret/1.ans": None}, r"1\.in: has no answer file 1\.ans"),
    ("encoding", {"data/secret/1.in": b"\xff\n"}, r"1\.in: is not UTF-8"),
    ("input files", {"data/secret/1.files/a": "x"}, r"1\.files: input files"),
    ("arguments", {"data/secret/1.yaml": "args: [x]"}, r"1\.yaml: args: "),
    ("interaction", {"data/sample/1.interaction": "<1"}, "interactive"),
    ("included files", {"include/python3/a.py": ""}, "include/python3: is not supported"),
    ("cpp", {"output_validators/v.cpp": ""}, r"v\.cpp: output validators are supported in Python"),
    ("cpp in a folder", {"output_validators/v/a.cpp": ""}, r"v/a\.cpp: output validators"),
    ("two mains", {"output_validator/a.py": "", "output_validator/b.py": ""}, "__main__.py"),
    ("two validators", {"output_validators/a.py": "", "output_validators/b.py": ""}, "has 2 validators"),
    ("verdict", {"submissions/accepted/a.py": "# @EXPECTED_RESULTS@: MAYBE"}, "'MAYBE' is none of"),
    ("submission's encoding", {"submissions/accepted/a.py": b"\xff"}, r"a\.py: is not UTF-8"),
    (
        "submissions.yaml",
        {
            "submissions/submissions.yaml": "accepted/a.py: {permitted: AC}",
            "submissions/accepted/a.py": "",
        },
        r"submissions\.yaml: accepted/a\.py: must be a list",
    ),
    (
        "flags of a group",
        {
            "data/secret/g/2.in": "",
            "data/secret/g/2.ans": "1",
            "data/secret/g/testdata.yaml": "output_validator_flags: float_tolerance 1",
        },
        r"g/2\.in: has the validator flags",
    ),
]


@pytest.mark.parametrize(
    ("files", "message"), [pytest.param(files, message, id=name) for name, files, message in REFUSED]
)
def test_what_cannot_be_judged_faithfully_is_refused(
    package: Callable[..., Path], files: dict[str, str | bytes | None], message: str
) -> None:
    root = package(files)
    with pytest.raises(PackageError, match=message):
        load_package(root)


PRIVATE = "what is none of the package's business"


@pytest.mark.parametrize(
    "name",
    [
        "data/secret/1.ans",
        "data/secret/2.in",
        "submissions/accepted/a.py",
        "output_validators/v.py",
        ".timelimit",
        "data/secret/testdata.yaml",
        "submissions/submissions.yaml",
    ],
)
def test_a_link_out_of_the_package_is_refused_and_not_read(
    package: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.txt"
    outside.write_text(PRIVATE)
    root = package({"submissions/accepted/right.py": "print(2.5)\n", name: None})
    link = root / name
    link.unlink(missing_ok=True)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside)
    with pytest.raises(PackageError, match="is a link out of the package") as caught:
        load_package(root)
    assert caught.value.file == link
    assert PRIVATE not in str(caught.value)


def test_a_folder_that_leads_out_by_way_of_another_is_refused(package: Callable[..., Path]) -> None:
    root = package({"elsewhere/2.ans": "1\n", "elsewhere/3.in": "1\n"})
    (root / "elsewhere/2.in").symlink_to("/etc/hostname")
    (root / "data/sample").symlink_to("../elsewhere")
    with pytest.raises(PackageError, match="is a link out of the package"):
        load_package(root)


def test_links_within_the_package_and_in_folders_that_are_not_read_are_fine(
    package: Callable[..., Path],
) -> None:
    root = package({"problem_statement/problem.en.tex": "text\n", "common/2.in": "2\n"})
    (root / "problem_statement/logo.png").symlink_to("/etc/hostname")
    (root / "data/secret/2.in").symlink_to("../../common/2.in")
    (root / "data/secret/2.ans").symlink_to("1.ans")
    (root / "data/secret/note").symlink_to("nowhere")
    assert [test.input for test in load_package(root).problem.tests] == ["1\n", "2\n"]


@pytest.mark.parametrize("name", ["data/secret/2.in", "submissions/accepted/a.py"])
def test_what_would_keep_its_reader_waiting_is_refused(package: Callable[..., Path], name: str) -> None:
    root = package({"submissions/accepted/right.py": "print(2.5)\n", "data/secret/2.ans": "1\n"})
    os.mkfifo(root / name)
    with pytest.raises(PackageError, match="is no regular file"):
        load_package(root)


def test_a_package_of_vast_files_is_refused_before_they_are_read(package: Callable[..., Path]) -> None:
    root = package({"data/secret/2.ans": "1\n"})
    with (root / "data/secret/2.in").open("wb") as file:
        file.truncate(1 << 40)  # a hole: it takes no room on the disk
    with pytest.raises(PackageError, match="has more than"):
        load_package(root)


def test_a_yaml_bomb_is_refused_before_it_unfolds(package: Callable[..., Path]) -> None:
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    text = "\n".join([*levels, "limits: *a11", "name: A", ""])
    with pytest.raises(PackageError, match="limits") as caught:
        load_package(package({"problem.yaml": text}))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"problem.yaml": f"type: 0x{'f' * 5000}\n"}, "problem.yaml"),
        ({"problem.yaml": f"limits: {'9' * 5000}\n"}, "problem.yaml: cannot be read"),
        (
            {"data/testdata.yaml": 'output_validator_flags: "\'"\n'},
            "output_validator_flags: No closing quotation",
        ),
        ({"output_validators/v/__init__.py": ""}, "holds no output validator"),
        ({"domjudge-problem.ini": "x" * 5000}, "domjudge-problem.ini: cannot be read"),
    ],
    ids=["hexadecimal", "digits", "quotation mark", "validator without a main", "no ini file"],
)
def test_broken_files_are_refused_by_name_in_a_few_words(
    package: Callable[..., Path], files: dict[str, str], complaint: str
) -> None:
    with pytest.raises(PackageError) as caught:
        load_package(package(dict(files)))
    assert complaint in str(caught.value)
    assert len(str(caught.value)) < 1000
