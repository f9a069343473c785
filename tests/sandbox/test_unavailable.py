"""Where no program can be isolated, nothing is judged, and a person is told why and what helps."""

import stat
from pathlib import Path

import pytest

from sandbox import (
    AssertInput,
    Limits,
    Outcome,
    Program,
    SandboxKind,
    SandboxSettings,
    SandboxUnavailableError,
    languages,
    open_sandbox,
)
from sandbox.diagnosis import KNOWN, explain
from service.settings import default_python


def script(path: Path, text: str) -> str:
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize("python", ["/no/such/python", "/dev/null", "/usr/bin/false", "/usr/bin/true"])
def test_an_interpreter_that_cannot_be_run_is_named(python: str) -> None:
    with pytest.raises(SandboxUnavailableError) as found:
        open_sandbox(SandboxSettings(python=python))
    assert python in found.value.cause
    assert "MICROCODER_PYTHON" in found.value.cure
    assert "compileall" not in found.value.cause  # what was asked is of no use to a person
    assert found.value.cause in str(found.value)
    assert found.value.cure in str(found.value)


def test_languages_need_an_interpreter_too() -> None:
    with pytest.raises(SandboxUnavailableError):
        languages(SandboxSettings(python="/no/such/python"))
    first, *_ = languages(SandboxSettings(python=default_python()))
    assert (first.name, first.version.split(".")[0]) == ("python", "3")


def test_a_missing_nsjail_is_said_to_be_missing() -> None:
    with pytest.raises(SandboxUnavailableError, match="no nsjail binary") as found:
        open_sandbox(SandboxSettings(nsjail="/no/such/nsjail", python=default_python()))
    assert "nsjail" in found.value.cure


MESSAGES = {
    "[E] runChild():511 clone(flags=CLONE_NEWNS|CLONE_NEWUSER) failed: Operation not permitted": "seccomp profile",
    "[E] clone() failed: Permission denied": "AppArmor",
    "[E] clone() failed: No space left on device": "max_user_namespaces",
    "[E] clone() failed: Invalid argument": "ordinary Linux kernel",
    "[E] writing to /proc/7/gid_map failed: Operation not permitted": "CAP_SETUID",
    "[E] writing to /proc/7/uid_map failed: Operation not permitted": "CAP_SETUID",
    "[E] mount('/', NULL, NULL, MS_REC|MS_PRIVATE, NULL): Operation not permitted": "mount",
    "[E] mount('/usr/lib') failed: Permission denied": "AppArmor",
    "[E] pivot_root() failed: Operation not permitted": "pivot_root",
    "[E] sethostname('box') failed: Operation not permitted": "sethostname",
    "nsjail: error while loading shared libraries: libnl-route-3.so.200: cannot open shared object file": "libnl",
}


@pytest.mark.parametrize(("message", "word"), MESSAGES.items())
def test_a_known_message_comes_with_its_cure(message: str, word: str) -> None:
    error = explain(message)
    assert word in f"{error.cause} {error.cure}"
    assert not error.cure.startswith("See what nsjail says")
    assert message[4:30] in error.cause


def test_every_row_of_the_table_can_be_reached() -> None:
    reached = {explain(message).cure for message in MESSAGES}
    assert {cure for _, _, cure in KNOWN} <= reached


@pytest.mark.parametrize("message", ["", "  \n", "something never seen\nand more"])
def test_an_unknown_message_is_shown_as_it_is(message: str) -> None:
    error = explain(message)
    assert (message.split("\n", maxsplit=1)[0].strip() or "no message") in error.cause
    assert error.cure


FAILING = {
    "a message": ("echo '[E] clone() failed: Operation not permitted' >&2\nexit 255\n", "clone() failed"),
    "silence": ("exit 255\n", "No jail can be set up"),
    "success without a jail": ("exit 0\n", "No jail can be set up"),
}


@pytest.mark.parametrize(("body", "words"), FAILING.values(), ids=FAILING.keys())
def test_an_nsjail_that_fails_is_reported_with_what_it_said(tmp_path: Path, body: str, words: str) -> None:
    nsjail = script(tmp_path / "nsjail", f"#!/bin/sh\n{body}")
    with pytest.raises(SandboxUnavailableError) as found:
        open_sandbox(SandboxSettings(nsjail=nsjail, python=default_python()))
    assert words in found.value.cause


def test_an_nsjail_that_does_not_isolate_is_not_used(tmp_path: Path) -> None:
    """It starts the harness in the open: the probe sees the host and nothing is judged."""
    harness = Path(__file__).parents[2] / "sandbox" / "harness" / "main.py"
    nsjail = script(
        tmp_path / "nsjail", f"#!/bin/sh\nMICROCODER_BOX={tmp_path}/box exec {default_python()} {harness}\n"
    )
    (tmp_path / "box").mkdir()
    with pytest.raises(SandboxUnavailableError):
        open_sandbox(SandboxSettings(nsjail=nsjail, python=default_python()))


def test_a_sandbox_describes_itself() -> None:
    with open_sandbox(SandboxSettings(python=default_python())) as opened:
        facts = opened.describe()
    assert facts["kind"] == facts["isolation"] == "nsjail"
    assert facts["memory"] in {"cgroup-v1", "rlimit-per-process"}
    assert facts["python"].startswith("3.")
    with open_sandbox(SandboxSettings(kind="unsafe-process", python=default_python())) as opened:
        assert opened.describe()["isolation"] == "none"


@pytest.mark.parametrize("kind", ["nsjail", "unsafe-process"])
def test_an_environment_that_optimises_assertions_away_is_not_passed_on(
    kind: SandboxKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONOPTIMIZE", "1")
    with open_sandbox(SandboxSettings(kind=kind, python=default_python())) as opened:
        program = Program("def f(): return 1", mode="assert")
        with opened.session(program, Limits()) as session:
            assert session.run(AssertInput("assert f() == 2"), Limits()).outcome is Outcome.FAILED
