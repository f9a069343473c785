"""Writes the built-in audit set: ``python -m scripts.audit_set``."""

from __future__ import annotations

from pathlib import Path

from scripts.audit_set import assert_problems, call_problems, special_problems, stdio_problems

TARGET = Path(__file__).parents[2] / "service" / "audit" / "builtin" / "set.jsonl"


def lines() -> list[str]:
    """Return the set, one problem a line."""
    parts = (stdio_problems, call_problems, assert_problems, special_problems)
    return [built.line() for part in parts for built in part.build()]


if __name__ == "__main__":
    TARGET.write_text("".join(f"{line}\n" for line in lines()), encoding="ascii")
