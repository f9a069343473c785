"""Errors of the difficulty filter.

::

    DifficultyError
    ├── InputError                  a file cannot be used; names the file, the line and the field
    ├── SettingsError               a setting is invalid, or differs from what a run was begun with
    ├── JudgeError                  the judging model's server refuses every request, or does not answer any more
    ├── CalibrationError            nothing to calibrate on
    └── TargetError                 no selection meets the target shares

What goes wrong with one problem is no exception: it is reported with its reason and has no score.
"""


class DifficultyError(Exception):
    """Base of the difficulty filter's errors."""


class InputError(DifficultyError):
    """A file cannot be used; the message names the file, the line and the field."""


class SettingsError(DifficultyError):
    """A setting is invalid, or is not what a run was begun with."""


class JudgeError(DifficultyError):
    """The judging model's server refuses what it is asked, or fails again and again: going on cannot help."""


class CalibrationError(DifficultyError):
    """There is nothing, or too little, to calibrate on."""


class TargetError(DifficultyError):
    """No selection meets the target shares; the message says which one is in the way."""
