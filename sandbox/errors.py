"""What can go wrong with a sandbox, as opposed to with the program in it.

SandboxError
├── SandboxUnavailableError   no jail can be set up on this machine: nothing is judged
├── LanguageUnavailableError  this machine has no compiler for the language, or cannot test programs in it that way
└── SandboxBrokenError        a jail that worked has failed in the middle: judge again in a new one
"""

from __future__ import annotations


class SandboxError(Exception):
    """Base of this package's errors. None of them is ever a program's fault."""


class SandboxUnavailableError(SandboxError):
    """No isolation can be had here; ``cause`` says why, ``cure`` what a person can do about it."""

    def __init__(self, cause: str, cure: str) -> None:
        super().__init__(f"{cause} Cure: {cure}")
        self.cause = cause
        self.cure = cure


class LanguageUnavailableError(SandboxError):
    """The language is not to be had here, or not in the way that was asked for."""


class SandboxBrokenError(SandboxError):
    """The jail or its harness died or stopped answering; the facts of the run are lost."""
