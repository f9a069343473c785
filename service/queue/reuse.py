"""Equal submissions are judged once: which are equal, whose judgement may answer for others, and how.

Within a group of rollouts the same program is common. Its judgement is given again, marked ``cached``, unless it
says nothing certain about the program: our failures (IE), and time limits, where the next run may end in time.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Self

from service.kept import Kept
from service.version import package_version
from service.wire import Judgement, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from service.intake import Item
    from service.limits import Defaults
    from service.settings import Settings

UNCERTAIN = frozenset({Verdict.IE, Verdict.TLE})


class Fingerprints:
    """Names that are equal for submissions which this installation judges equally."""

    def __init__(self, sandbox: str, python: str, defaults: Defaults) -> None:
        salt = f"{package_version()}\n{sandbox}\n{python}\n{defaults.model_dump_json()}"
        self._salt = hashlib.blake2b(salt.encode(), digest_size=16).digest()

    @classmethod
    def of_settings(cls, settings: Settings) -> Self | None:
        """Return the names under ``settings``, or None where every submission is to be judged."""
        if not settings.cache_ttl_s:
            return None
        return cls(settings.sandbox, settings.python, settings.defaults)

    def of(self, item: Item) -> str:
        """Return the fingerprint of a submission whose problem has been looked up."""
        text = f"{item.program}\n{item.problem}".encode()
        return hashlib.blake2b(text, digest_size=16, key=self._salt).hexdigest()


class Twins:
    """The submissions of a request, equal ones together: the first is judged, the others follow it."""

    def __init__(self, items: Iterable[Item], fingerprints: Fingerprints | None) -> None:
        self.by_first: dict[int, tuple[str, list[Item]]] = {}
        first: dict[str, int] = {}
        for item in items:
            name = fingerprints.of(item) if fingerprints is not None and item.program else ""
            if name and name in first:
                self.by_first[first[name]][1].append(item)
            else:
                self.by_first[item.index] = (name, [item])
                first[name] = item.index


def certain(verdict: Verdict) -> bool:
    """Tell whether a judgement with this verdict may answer for equal submissions."""
    return verdict not in UNCERTAIN


def given_again(judgement: bytes, item: Item) -> bytes:
    """Return the judgement, as JSON, of a submission that equals one which was judged before."""
    once = Judgement.model_validate_json(judgement)
    again = {"id": item.id, "index": item.index, "cached": True, "queue_s": 0.0, "attempts": 0}
    return once.model_copy(update=again).model_dump_json().encode()


class JudgementCache:
    """Judgements by fingerprint, in this process."""

    def __init__(self, max_bytes: int, ttl_s: float) -> None:
        self._kept: Kept[tuple[Verdict, bytes]] = Kept(max_bytes, ttl_s, renews=False)

    def get(self, fingerprint: str) -> tuple[Verdict, bytes] | None:
        """Return verdict and judgement as JSON."""
        return self._kept.get(fingerprint)

    def put(self, fingerprint: str, verdict: Verdict, judgement: bytes) -> None:
        """Keep a judgement where it is certain."""
        if fingerprint and certain(verdict):
            self._kept.put(fingerprint, (verdict, judgement), len(judgement))
