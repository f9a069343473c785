"""The trainer's side offers the very types that the service judges by."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pydantic import ValidationError

import trainer_client
from service import wire


def test_types_are_the_services_own() -> None:
    """Nothing is copied: a type that the client exports is the one of the contract."""
    shared = [name for name in trainer_client.__all__ if hasattr(wire, name)]
    assert len(shared) >= 17
    for name in shared:
        assert getattr(trainer_client, name) is getattr(wire, name)


def test_a_request_is_built_and_an_answer_read() -> None:
    """A trainer builds a submission without writing JSON by hand, and a misspelt field is refused at once."""
    case = trainer_client.StdioCase(input="2\n", expected="4\n")
    problem = trainer_client.StdioProblem(mode="stdio", tests=[case])
    submission = trainer_client.Submission(completion="```python\nprint(4)\n```", problem=problem)
    assert trainer_client.Submission.model_validate_json(submission.model_dump_json()) == submission
    with pytest.raises(ValidationError):
        trainer_client.Limits.model_validate({"cpu_time": 1})


def test_the_command_line_of_a_trainers_installation_says_what_is_missing() -> None:
    """Without extras there is no click; a newcomer who tries the command is told so instead of shown a traceback."""
    code = "import sys; sys.modules['click'] = None; from service.command import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert result.stderr.startswith("microcoder: click is not installed")
    assert "[service]" in result.stderr
    assert "Traceback" not in result.stderr
    code = "import sys; sys.argv[1:] = ['--help']; from service.command import main; main()"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "serve" in shown
