"""Which of two media types a client prefers, by its ``Accept`` header (RFC 9110, section 12.5.1)."""

from __future__ import annotations

import re

# Commas and semicolons inside quotation marks separate nothing.
_QUOTED = r'"(?:[^"\\]|\\.)*"?'
_ENTRY = re.compile(rf'(?:[^,"]|{_QUOTED})+')
_PART = re.compile(rf'(?:[^;"]|{_QUOTED})+')


def prefers(media_type: str, accept: str, *, over: str) -> bool:
    """Tell whether ``accept`` names ``media_type`` itself and weighs it no less than ``over``.

    Ranges such as ``*/*`` speak for ``over`` only: a client that cannot do with it names what it wants.
    Parameters other than the weight are not looked at; a weight that is no number counts as 0.
    """
    weights = dict(_weighted(entry) for entry in _ENTRY.findall(accept))
    weight = weights.get(media_type, 0.0)
    ranges = (over, f"{over.partition('/')[0]}/*", "*/*")
    other = next((weights[one] for one in ranges if one in weights), 0.0)
    return weight > 0 and weight >= other


def _weighted(entry: str) -> tuple[str, float]:
    name, *parameters = (part.strip().lower() for part in _PART.findall(entry) or [""])
    weight = next((value for value in parameters if value.startswith("q=")), "q=1")
    try:
        return name, float(weight.removeprefix("q="))
    except ValueError:
        return name, 0.0
