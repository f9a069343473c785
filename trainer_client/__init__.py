"""The trainer's side: clients of the service, and the contract's types to build requests from and read answers with.

Names are imported when they are first used: who only makes problems needs pydantic, and httpx is loaded with a client.
Nothing here loads torch, a web framework or Redis. What knows a trainer is in ``trainer_client.adapters``, what knows
a data set in ``trainer_client.datasets``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

# Where each of our own names is; all others are the contract's.
_HOMES = {
    "AsyncEvaluatorClient": "async_client",
    "ClientConfig": "config",
    "ClosedError": "errors",
    "EvaluatorClient": "client",
    "EvaluatorError": "errors",
    "ProblemError": "errors",
    "RefusedError": "errors",
    "TooManyUnscorableError": "errors",
    "UnscorableError": "errors",
    "parse_problem": "problems",
    "problem_text": "problems",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = f"trainer_client.{_HOMES[name]}" if name in _HOMES else "service.wire"
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
