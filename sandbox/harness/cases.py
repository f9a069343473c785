"""unittest in the tester's process: sees how every case ended, whoever ran it and whether or not they looked."""

from __future__ import annotations

import io
import unittest
from typing import Any


class Cases:
    """What unittest's results were told since this was made."""

    def __init__(self) -> None:
        self._started = 0
        self._problem: BaseException | None = None
        for name, note in {
            "startTest": self._start,
            "addError": self._fail,
            "addFailure": self._fail,
            "addSubTest": self._fail,
            "addSkip": self._evade,
            "addExpectedFailure": self._evade,
            "addUnexpectedSuccess": self._evade,
        }.items():
            _observe(name, note)

    def check(self) -> None:
        """Raise what made the first case fail, if any did."""
        if self._problem is not None:
            raise self._problem

    def run(self, values: list[Any]) -> bool:
        """Run those of ``values`` that hold tests, unless something has; False where there are none."""
        found = [value for value in values if isinstance(value, type)]
        cases = [value for value in found if issubclass(value, unittest.TestCase)]
        if cases and not self._started:
            loader = unittest.TestLoader()
            suite = unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases)
            unittest.TextTestRunner(stream=io.StringIO()).run(suite)
        started = self._started > 0
        for group in found:
            if group.__name__.startswith("Test") and group not in cases:  # pytest's groups of functions
                for name in [name for name in vars(group) if name.startswith("test")]:
                    getattr(group(), name)()
                    started = True
        self.check()
        return started

    def _start(self, *_: Any) -> None:
        self._started += 1

    def _fail(self, _: Any, *details: Any) -> None:
        # (error,) or, of a subtest, (subtest, error or None)
        if details[-1] is not None:
            self._problem = self._problem or details[-1][1]

    def _evade(self, *_: Any) -> None:
        self._problem = self._problem or AssertionError(
            "a test was skipped or failed as expected; that is no pass"
        )


def _observe(name: str, note: Any) -> None:
    result: Any = unittest.TestResult
    original = getattr(result, name)

    def observed(self: Any, *details: Any) -> None:
        note(*details)
        original(self, *details)

    setattr(result, name, observed)
