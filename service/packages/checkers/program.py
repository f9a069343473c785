"""Runs a package's output validator, written in Python, as a checker.

The validator finds what the format promises it: input and answer as files, a feedback folder, its flags,
and the submission's output on standard input. It says 42 for right and 43 for wrong; anything else is a
fault of the validator, which is raised so that nobody is punished for it. It runs inside this process,
whose jail need not allow starting another, so its standard streams are real file descriptors for as long as
it runs.
"""

from __future__ import annotations

import contextlib
import io
import os
import pathlib
import runpy
import sys
import tempfile

ACCEPT = 42
REJECT = 43
MAX_FEEDBACK_CHARS = 1000


def run_validator(
    files: dict[str, str], main: str, flags: list[str], texts: tuple[str, str, str]
) -> tuple[bool, str]:
    """Judge ``texts`` (input, expected, actual) with the validator ``main``, one of ``files`` by path.

    Raises:
        RuntimeError: the validator ended with another exit code than 42 or 43, or crashed.

    """
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in files.items():
            path = root / "validator" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="")
        names = ("test.in", "test.ans", "test.out")
        for name, text in zip(names, texts, strict=True):
            (root / name).write_bytes(text.encode("utf-8", "surrogateescape"))
        feedback = root / "feedback"
        feedback.mkdir()
        arguments = [str(root / "test.in"), str(root / "test.ans"), f"{feedback}{os.sep}", *flags]
        code, printed = _run(root / "validator" / main, arguments, root / "test.out")
        message = _message(feedback)
    if code in {ACCEPT, REJECT}:
        return code == ACCEPT, message
    raise RuntimeError(f"the output validator {main} ended with exit code {code}, not 42 or 43: {printed}")


def _run(program: pathlib.Path, arguments: list[str], actual: pathlib.Path) -> tuple[int, str]:
    """Run ``program`` as a script; return its exit code and what it printed."""
    before = set(sys.modules)
    argv, path, stdin = sys.argv, list(sys.path), sys.stdin
    printed = io.StringIO()
    try:
        sys.argv = [str(program), *arguments]
        sys.path.insert(0, str(program.parent))
        with (
            _standard_input(actual),
            open(0, encoding="utf-8", errors="surrogateescape", closefd=False) as sys.stdin,
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
        ):
            runpy.run_path(str(program), run_name="__main__")
    except SystemExit as ending:
        return _exit_code(ending), printed.getvalue()[-MAX_FEEDBACK_CHARS:]
    finally:
        sys.argv, sys.path[:], sys.stdin = argv, path, stdin
        # The validator's own modules: the next validator may have others of the same names.
        own = str(program.parent)
        for name in set(sys.modules) - before:
            if str(getattr(sys.modules[name], "__file__", "") or "").startswith(own):
                del sys.modules[name]
    return 0, printed.getvalue()[-MAX_FEEDBACK_CHARS:]


@contextlib.contextmanager
def _standard_input(file: pathlib.Path):  # type: ignore[no-untyped-def]  # noqa: ANN202
    """Make ``file`` this process's descriptor 0, for validators that read it without ``sys.stdin``."""
    saved = os.dup(0)
    descriptor = os.open(file, os.O_RDONLY)
    try:
        os.dup2(descriptor, 0)
        yield
    finally:
        os.dup2(saved, 0)
        os.close(descriptor)
        os.close(saved)


def _exit_code(ending: SystemExit) -> int:
    if ending.code is None:
        return 0
    return ending.code if isinstance(ending.code, int) else 1


def _message(feedback: pathlib.Path) -> str:
    for name in ("judgemessage.txt", "teammessage.txt"):
        file = feedback / name
        if file.is_file():
            text = file.read_text(encoding="utf-8", errors="replace").strip()
            if text:
                return text[:MAX_FEEDBACK_CHARS]
    return ""
