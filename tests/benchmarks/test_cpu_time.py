"""CPU time is counted whoever waits for a process, and whether anybody does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BURN = "import time\nwhile time.process_time() < 0.3: pass"
# The middle process starts a burner and dies before it: the burner is nobody's child any more.
ORPHAN = f"import subprocess, sys; subprocess.Popen([sys.executable, '-S', '-c', {BURN!r}])"
MEASURE = """
import subprocess, sys, time
from benchmarks.cpu_time import CpuMeter
meter = CpuMeter(set())
before_s = meter.descendants_s()
subprocess.run([sys.executable, "-S", "-c", sys.argv[1]], check=True)
deadline = time.monotonic() + 60
while time.monotonic() < deadline and meter.descendants_s() - before_s < float(sys.argv[2]):
    time.sleep(0.02)
print(meter.descendants_s() - before_s)
"""


def _measured_s(program: str, at_least_s: float) -> float:
    command = [sys.executable, "-c", MEASURE, program, f"{at_least_s}"]
    return float(subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True).stdout)


@pytest.mark.parametrize("program", [BURN, ORPHAN], ids=["child", "orphan"])
def test_time_of_children_and_orphans_is_counted(program: str) -> None:
    assert 0.28 <= _measured_s(program, 0.28) < 3


def test_an_idle_child_costs_next_to_nothing() -> None:
    assert _measured_s("pass", 0.0) < 0.25
