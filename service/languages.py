"""Languages as the contract knows them: which there are, and what problems can ask of programs in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sandbox import Language

PYTHON = "python"


class Tested(Protocol):
    """What matters of a problem: its mode, and whether it has a prelude."""

    @property
    def mode(self) -> str:
        """Return how tests drive the program."""
        ...

    @property
    def prelude(self) -> object:
        """Return something true where there is one."""
        ...


def listed(languages: Sequence[Language]) -> list[dict[str, Any]]:
    """Return what ``GET /languages`` tells."""
    return [
        {
            "name": one.name,
            "version": one.version,
            "description": one.description,
            "aliases": list(one.aliases),
            "modes": ["stdio", "call", "assert"] if one.name == PYTHON else ["stdio"],
        }
        for one in languages
    ]


def every_name(languages: Sequence[Language]) -> list[str]:
    """Return the names and aliases under which ``languages`` can be asked for."""
    return [name for one in languages for name in (one.name, *one.aliases)]


def fault(language: str, known: Sequence[str], problem: Tested | None) -> str | None:
    """Return what is wrong with ``language`` for a submission to ``problem``, or None.

    ``known`` are the names and aliases of this machine's languages; a problem of None is not known yet.
    """
    if language not in known:
        return f"is none of those here: {', '.join(known)}"
    if language == PYTHON or problem is None:
        return None
    if problem.mode != "stdio":
        return (
            f"programs in {language} can be tested in mode stdio only, and this problem's is {problem.mode}"
        )
    if problem.prelude:
        return f"this problem's prelude is Python, and the program is {language}"
    return None
