"""Errors of ``microcoder train``.

::

    TrainError
    ├── ConfigError     the configuration or a file that it names cannot be used; names file, line and field
    ├── RunError        a run cannot begin or be resumed: the output folder, the machine, the service
    └── MissingError    a package is not installed; says which extra brings it
"""

from __future__ import annotations


class TrainError(Exception):
    """Base of the errors of ``microcoder train``."""


class ConfigError(TrainError):
    """The configuration cannot be used."""


class RunError(TrainError):
    """A run cannot begin or go on."""


class MissingError(TrainError):
    """A package is not installed."""
