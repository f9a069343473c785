"""The trainer's side: the contract's types, ready to build requests from and to read answers with.

Importing this package loads pydantic and nothing else that is heavy: no torch, no fastapi, no redis.
"""

from service.wire import (
    AssertCase,
    AssertProblem,
    Batch,
    BatchAnswer,
    CallCase,
    CallProblem,
    CaseResult,
    Checker,
    ComparisonOptions,
    Judgement,
    Limits,
    Options,
    Problem,
    StdioCase,
    StdioProblem,
    Submission,
    Verdict,
)

__all__ = [
    "AssertCase",
    "AssertProblem",
    "Batch",
    "BatchAnswer",
    "CallCase",
    "CallProblem",
    "CaseResult",
    "Checker",
    "ComparisonOptions",
    "Judgement",
    "Limits",
    "Options",
    "Problem",
    "StdioCase",
    "StdioProblem",
    "Submission",
    "Verdict",
]
