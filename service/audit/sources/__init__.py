"""Readers of labelled data: files and folders of other projects' formats to items.

``load(paths, ...)`` is the one entry. Whatever cannot be audited faithfully is left out by name and reason; what is no
such file at all is an error that names file and field.
"""

from service.audit.sources.loading import BUILTIN, FORMATS, Companions, builtin, load
from service.audit.sources.rollouts import Labelling
from service.audit.sources.rows import SourceError

__all__ = ["BUILTIN", "FORMATS", "Companions", "Labelling", "SourceError", "builtin", "load"]
