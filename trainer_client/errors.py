"""Errors of the client.

::

    EvaluatorError
    ├── RefusedError                the service refuses what was sent (4xx): repeating it cannot help
    ├── UnscorableError             one sample could not be judged, for trainers that leave out what raises
    ├── TooManyUnscorableError      the share of samples that nobody could judge is over the threshold
    ├── ProblemError                a problem or a row of a data set cannot be used; names the field
    └── ClosedError                 the client was closed

A failure of the service or of the network is no exception: that sample's judgement is IE, its reward None.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.wire import ErrorDetail, Judgement


class EvaluatorError(Exception):
    """Base of the client's errors."""


class RefusedError(EvaluatorError):
    """The service refuses the request; ``status`` is its code, ``errors`` names the invalid fields."""

    def __init__(self, message: str, *, status: int, errors: Sequence[ErrorDetail] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.errors = list(errors)


class UnscorableError(EvaluatorError):
    """A sample could not be judged; ``judgement`` is its IE judgement."""

    def __init__(self, judgement: Judgement) -> None:
        super().__init__(f"sample {judgement.id} could not be judged: {judgement.message}")
        self.judgement = judgement


class TooManyUnscorableError(EvaluatorError):
    """Too many samples could not be judged; ``judgements`` are those of the batch that crossed the threshold."""

    def __init__(self, message: str, judgements: Sequence[Judgement] = ()) -> None:
        super().__init__(message)
        self.judgements = list(judgements)


class ProblemError(EvaluatorError):
    """A problem, or a row that one is made from, cannot be used; the message names the field."""


class ClosedError(EvaluatorError):
    """The client was closed before or during the call."""
