"""What judging comes to."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What became of a submission or of one test. Compare with ``is``: every member is truthy."""

    AC = "AC"  # accepted
    WA = "WA"  # wrong answer
    TLE = "TLE"  # time limit exceeded
    MLE = "MLE"  # memory limit exceeded
    OLE = "OLE"  # output limit exceeded
    RE = "RE"  # runtime error
    CE = "CE"  # does not compile
    NC = "NC"  # no code in the completion
    IE = "IE"  # our failure, never the program's
    SKIPPED = "SKIPPED"  # a test that was not run
