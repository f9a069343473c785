"""The trainer's side: clients of the service, and the contract's types to build requests from and read answers with.

Importing this package loads httpx, pydantic and nothing else that is heavy: no torch, no fastapi, no redis. What
knows a trainer is in ``trainer_client.adapters``, what knows a data set in ``trainer_client.datasets``.
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
from trainer_client.async_client import AsyncEvaluatorClient
from trainer_client.client import EvaluatorClient
from trainer_client.config import ClientConfig
from trainer_client.errors import (
    ClosedError,
    EvaluatorError,
    ProblemError,
    RefusedError,
    TooManyUnscorableError,
    UnscorableError,
)
from trainer_client.problems import parse_problem, problem_text

__all__ = [
    "AssertCase",
    "AssertProblem",
    "AsyncEvaluatorClient",
    "Batch",
    "BatchAnswer",
    "CallCase",
    "CallProblem",
    "CaseResult",
    "Checker",
    "ClientConfig",
    "ClosedError",
    "ComparisonOptions",
    "EvaluatorClient",
    "EvaluatorError",
    "Judgement",
    "Limits",
    "Options",
    "Problem",
    "ProblemError",
    "RefusedError",
    "StdioCase",
    "StdioProblem",
    "Submission",
    "TooManyUnscorableError",
    "UnscorableError",
    "Verdict",
    "parse_problem",
    "problem_text",
]
