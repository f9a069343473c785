"""What the built-in audit set is made of: problems, and programs whose verdicts follow from how they were made."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

LICENSE = "Apache-2.0"
REJECTED = ("WA", "RE", "TLE", "MLE", "OLE", "CE", "NC")


@dataclass(frozen=True, slots=True)
class Labelled:
    """A program (or a completion that holds one) and its right verdicts."""

    file: str
    code: str
    verdicts: tuple[str, ...]
    is_completion: bool = False

    def row(self) -> dict[str, Any]:
        """Return it as the labelled form has it."""
        kind = "completion" if self.is_completion else "code"
        truth = "accept" if self.verdicts == ("AC",) else "reject"
        return {"file": self.file, kind: self.code, "truth": truth, "verdicts": list(self.verdicts)}


@dataclass(slots=True)
class Built:
    """A problem with its programs; ``source`` is the kind of difference that it is about."""

    name: str
    source: str
    problem: dict[str, Any]
    submissions: list[Labelled] = field(default_factory=list)

    def add(self, file: str, code: str, *verdicts: str, completion: bool = False) -> None:
        """Add a program."""
        self.submissions.append(Labelled(file, code, verdicts or ("AC",), completion))

    def line(self) -> str:
        """Return the problem as a line of the set."""
        names = [one.file for one in self.submissions]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.name}: two programs of one name: {sorted(names)}")
        return json.dumps(
            {
                "id": self.name,
                "source": self.source,
                "license": LICENSE,
                "problem": self.problem,
                "submissions": [one.row() for one in self.submissions],
            },
            ensure_ascii=True,
        )


# What a presentation is right or wrong about is asked of all answers of a problem.
Applies = Callable[[Sequence[Any]], bool]


def always(_answers: Sequence[Any]) -> bool:
    """Say that a presentation has the same truth whatever the answers are."""
    return True


@dataclass(frozen=True, slots=True)
class Presentation:
    """A way to give an answer: ``code`` prints or returns ``answer``; ``applies`` says where its verdict is certain."""

    name: str
    code: str
    verdicts: tuple[str, ...] = ("AC",)
    applies: Applies = always


def right(name: str, code: str, applies: Applies = always) -> Presentation:
    """Return a presentation that is right."""
    return Presentation(name, code, ("AC",), applies)


def wrong(name: str, code: str, applies: Applies = always, verdict: str = "WA") -> Presentation:
    """Return a presentation that is wrong on at least one of the answers for which ``applies`` holds."""
    return Presentation(name, code, (verdict,), applies)


def source_of(function: Callable[..., Any], name: str) -> str:
    """Return a function's source under another name."""
    text = inspect.getsource(function)
    if text.startswith("@"):
        raise ValueError(f"{function.__name__}: its source would start with a decorator")
    return text.replace(f"def {function.__name__}(", f"def {name}(", 1)
