"""What can become of one request, for deciding what to do next.

::

    AttemptError
    ├── UnreachableError    no connection: nothing was sent
    ├── BrokenError         the connection ended, or the answer did, before all was answered
    ├── StalledError        nothing came for too long
    ├── BusyError           429, 502, 503, 504, 408: later or elsewhere
    ├── FaultError          500 and its kin, or an answer that cannot be read
    ├── TooLargeError       413
    └── MissingError        problems that the service does not have (any more)

None of them leaves the client: see ``course``. What the service refuses is a :class:`RefusedError`.
"""

from __future__ import annotations


class AttemptError(Exception):
    """A request that may be repeated."""

    retry_after_s: float | None = None


class UnreachableError(AttemptError):
    """No connection was made."""


class BrokenError(AttemptError):
    """The connection broke."""


class StalledError(AttemptError):
    """Nothing came for too long."""


class BusyError(AttemptError):
    """The service cannot take it now."""

    def __init__(self, message: str, retry_after_s: float | None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class FaultError(AttemptError):
    """The service failed over this very request."""


class TooLargeError(AttemptError):
    """The body is over the service's limit."""


class MissingError(AttemptError):
    """Stored problems are gone."""

    def __init__(self, message: str, missing: list[str]) -> None:
        super().__init__(message)
        self.missing = missing
