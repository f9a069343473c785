"""The HTTP contract as types: what a trainer sends and what the service answers.

Imports nothing but pydantic, so that a client can use the same models without the service's dependencies.
Units are in the names: ``_s`` is seconds, ``_bytes`` is bytes. Unknown fields are refused everywhere, because a
misspelt limit that passes silently is a wrong verdict later.

Server-side maxima of limits are not part of the models; whoever validates on a server passes them in as
pydantic's validation context: ``Submission.model_validate(data, context={"maxima": Limits(...)})``.
"""

from service.wire.base import Tolerance, WireModel
from service.wire.cases import AssertCase, CallCase, Case, Order, StdioCase
from service.wire.comparison import Checker, ComparisonOptions
from service.wire.errors import ErrorDetail, ProblemDetail
from service.wire.judgements import BatchAnswer, CaseResult, Job, JobStatus, Judgement
from service.wire.limits import (
    DEFAULT_CPU_TIME_S,
    DEFAULT_MEMORY_BYTES,
    DEFAULT_OUTPUT_BYTES,
    DEFAULT_PROCESSES,
    MIN_MEMORY_BYTES,
    Limits,
)
from service.wire.nodes import TypeName
from service.wire.problems import AssertProblem, CallProblem, Problem, StdioProblem, is_operations
from service.wire.stored import NO_CHARACTER, StoredProblem, canonical_json, digest_of
from service.wire.submissions import Batch, Detail, Isolation, Options, Priority, Submission
from service.wire.verdicts import Verdict

__all__ = [
    "DEFAULT_CPU_TIME_S",
    "DEFAULT_MEMORY_BYTES",
    "DEFAULT_OUTPUT_BYTES",
    "DEFAULT_PROCESSES",
    "MIN_MEMORY_BYTES",
    "NO_CHARACTER",
    "AssertCase",
    "AssertProblem",
    "Batch",
    "BatchAnswer",
    "CallCase",
    "CallProblem",
    "Case",
    "CaseResult",
    "Checker",
    "ComparisonOptions",
    "Detail",
    "ErrorDetail",
    "Isolation",
    "Job",
    "JobStatus",
    "Judgement",
    "Limits",
    "Options",
    "Order",
    "Priority",
    "Problem",
    "ProblemDetail",
    "StdioCase",
    "StdioProblem",
    "StoredProblem",
    "Submission",
    "Tolerance",
    "TypeName",
    "Verdict",
    "WireModel",
    "canonical_json",
    "digest_of",
    "is_operations",
]
