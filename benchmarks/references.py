"""Figures measured on a like machine (two cores of a server CPU, virtual, shared), to compare ratios with.

Other machines are faster or slower, so only ratios to the same yardstick carry over: a plain process per test.
"""

from __future__ import annotations

from dataclasses import dataclass

SOURCE = "measured on a like machine"


@dataclass(frozen=True, slots=True)
class Design:
    """CPU time of all processes, in ms per submission of 1 and of 10 trivial stdin tests."""

    name: str
    cpu_ms_1: float
    cpu_ms_10: float


PROCESS_PER_TEST = Design("a process per test, no isolation", 9.1, 90)
DESIGNS = (
    PROCESS_PER_TEST,
    Design("forked child, all tests in it, no isolation", 2.0, 2.4),
    Design("jail per test, cold interpreter", 12.4, 129),
    Design("jail per submission, cold interpreter, fork per test", 16.9, 25.8),
    Design("warm jail, fork per test", 2.8, 12.4),
    Design("warm jail, one fork runs all tests", 1.9, 2.5),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds on the clock and of CPU time of all processes."""

    wall_s: float
    cpu_s: float


@dataclass(frozen=True, slots=True)
class Peer:
    """An evaluator on the workload of ``peers_workload.py``: 2 in flight, 2 s a test, the mean of two runs.

    ``light`` is the part without slow programs and endless loops, 144 submissions; ``whole`` is all 192, of which
    72 are right and 120 wrong. False rejects and accepts are those of the whole.
    """

    name: str
    light: Cost | None
    whole: Cost
    false_rejects: int
    false_accepts: int


NAIVE_LIGHT = Cost(45.6, 76.5)
PEERS = (
    Peer("a process per test", NAIVE_LIGHT, Cost(98.5, 158.5), 0, 0),
    Peer("LiveCodeBench codegen_metrics", Cost(4.7, 6.3), Cost(42.2, 69.5), 15, 0),
    Peer("NeMo Gym, LiveCodeBench path over Ray", Cost(6.9, 9.6), Cost(44.2, 79.5), 9, 2),
    Peer("rllm, LiveCodeBench path", Cost(17.8, 27.8), Cost(57.7, 99.0), 12, 0),
    Peer("SandboxFusion, LiveCodeBenchDataset", Cost(17.6, 30.2), Cost(55.6, 96.0), 15, 0),
    Peer("SandboxFusion, CommonOJ and LiveCodeBench", Cost(34.7, 58.8), Cost(77.9, 135.0), 18, 0),
    Peer("verl prime_code, 2 s", Cost(32.3, 42.4), Cost(141.8, 217.5), 15, 12),
    Peer("verl sandbox_fusion client, 64 in flight", None, Cost(191.8, 337.0), 42, 0),
    Peer("rllm, TACO path", None, Cost(201.4, 350.0), 27, 13),
    Peer("open-instruct API", None, Cost(428.1, 744.5), 34, 0),
)
