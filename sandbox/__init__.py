"""Runs untrusted programs and reports what happened: facts, never verdicts; expected answers never come here."""

from sandbox.errors import LanguageUnavailableError, SandboxBrokenError, SandboxError, SandboxUnavailableError
from sandbox.facts import (
    AssertInput,
    CallInput,
    CompileResult,
    End,
    Limits,
    Outcome,
    Program,
    RunInput,
    RunResult,
    StdioInput,
)
from sandbox.sandbox import Language, Sandbox, Session, languages, open_sandbox
from sandbox.settings import Isolation, SandboxKind, SandboxSettings
from sandbox.toolchains.languages import CodeMarks

__all__ = [
    "AssertInput",
    "CallInput",
    "CodeMarks",
    "CompileResult",
    "End",
    "Isolation",
    "Language",
    "LanguageUnavailableError",
    "Limits",
    "Outcome",
    "Program",
    "RunInput",
    "RunResult",
    "Sandbox",
    "SandboxBrokenError",
    "SandboxError",
    "SandboxKind",
    "SandboxSettings",
    "SandboxUnavailableError",
    "Session",
    "StdioInput",
    "languages",
    "open_sandbox",
]
