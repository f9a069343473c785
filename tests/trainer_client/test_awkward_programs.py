"""Programs that make evaluators lose verdicts or never return: the client has an answer to each, and returns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.trainer_client.live import PROBLEM, RIGHT, WRONG
from trainer_client import EvaluatorClient, Limits, Options, Verdict, problem_text

ROOT = Path(__file__).parents[2]
SUM = "print(sum(map(int, input().split())))"
FLOOD = f"```python\n{SUM}\nfor _ in range(50): print('x' * 1_000_000)\n```"
LINGERING = (
    f"```python\nimport os, time\nif os.fork() == 0:\n    time.sleep(1000)\n    os._exit(0)\n{SUM}\n```"
)


def test_what_is_printed_after_a_right_answer_does_not_hide_the_verdict(url: str) -> None:
    with EvaluatorClient(url) as client:
        judgements = client.judge([FLOOD, RIGHT], [PROBLEM] * 2, options=Options(detail="full"))
    assert [one.verdict for one in judgements] == [Verdict.OLE, Verdict.AC]
    assert judgements[0].reward == 0.0
    assert len(judgements[0].cases[0].stdout or "") < 8 << 10


LINGER = """
import sys
from trainer_client import EvaluatorClient
client = EvaluatorClient(sys.argv[1])
print(client.rewards([sys.argv[2], sys.argv[3]] * 4, [sys.argv[4]] * 8))
"""


def test_programs_that_leave_children_keep_neither_the_call_nor_its_process(url: str) -> None:
    """Nobody closes the client: its process ends all the same, long before the children would have."""
    problem = PROBLEM.model_copy(update={"limits": Limits(wall_time_s=30, processes=8)})
    result = subprocess.run(
        [sys.executable, "-c", LINGER, url, LINGERING, WRONG, problem_text(problem)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    assert result.stdout == f"{[1.0, 0.0] * 4}\n"


def test_a_verdict_belongs_to_the_program_it_was_asked_for(url: str) -> None:
    """One after another on the same workers: nothing that the first left is read as the second's result."""
    endless = "```python\nwhile True: pass\n```"
    short = PROBLEM.model_copy(update={"limits": Limits(cpu_time_s=0.5)})
    with EvaluatorClient(url, chunk_submissions=1, concurrency=1) as client:
        judgements = client.judge([RIGHT, endless, RIGHT, endless, WRONG], [short] * 5)
    assert [str(one.verdict) for one in judgements] == ["AC", "TLE", "AC", "TLE", "WA"]
