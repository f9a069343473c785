"""What a batch consists of, and the board on which its judgements are put."""

from __future__ import annotations

import json
import re
import time
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from service.wire import Judgement, Options, Submission
from trainer_client.attempt_errors import FaultError
from trainer_client.encoding import EncodedProblem, to_json
from trainer_client.errors import EvaluatorError, ProblemError
from trainer_client.limits import suite_wall_time_s
from trainer_client.outcome import unscorable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trainer_client.config import ClientConfig


_NUMBERED = re.compile(r"\bsubmissions\.(\d+)")


@dataclass(slots=True)
class Item:
    """One submission, encoded but for its problem."""

    position: int
    id: str
    head: str
    problem: EncodedProblem | None
    problem_id: str | None
    total: int
    suite_s: float
    failure: Judgement | None = None
    """The service's own IE; it is asked once more, under another key, before that counts."""
    failure_key: str = ""
    reason: str = "no answer came"

    @property
    def size_bytes(self) -> int:
        """Return the size with its problem."""
        return len(self.head) + (len(self.problem.text) if self.problem else 0)

    def text(self, *, inline: bool) -> str:
        """Return it as JSON, its problem ``inline`` or by the id that it is stored under."""
        if self.problem is None:
            where = f'"problem_id":{json.dumps(self.problem_id)}'
        elif inline:
            where = f'"problem":{self.problem.text}'
        else:
            where = f'"problem_id":"{self.problem.id}"'
        return f"{self.head[:-1]},{where}}}"


@dataclass(frozen=True, slots=True)
class Unit:
    """What one request carries. Repeated as it is it keeps its ``key``; a changed one is another request."""

    items: Sequence[Item]
    key: str = field(default_factory=lambda: uuid.uuid4().hex)

    def text(self, *, inline: bool) -> str:
        """Return it as the body of a batch."""
        return f'{{"submissions":[{",".join(item.text(inline=inline) for item in self.items)}]}}'

    def problems(self) -> list[tuple[int, EncodedProblem]]:
        """Return the problems to be stored, each once, with the position of a submission that has it."""
        found = {
            item.problem.id: (item.position, item.problem) for item in reversed(self.items) if item.problem
        }
        return list(found.values())

    def renumbered(self, text: str) -> str:
        """Return a message of the service with the caller's positions: the service counts within a request."""
        return _NUMBERED.sub(lambda found: f"submissions.{self.items[int(found[1])].position}", text)

    def note(self, reason: str) -> None:
        """Remember what went wrong, for those that will not be judged in the end."""
        for item in self.items:
            item.reason = reason

    def halves(self) -> tuple[Unit, Unit]:
        """Return two units of half the size."""
        middle = len(self.items) // 2
        return Unit(self.items[:middle]), Unit(self.items[middle:])


class Board:
    """The judgements of a batch. The first one of an item stays; what comes later is a repetition."""

    def __init__(self, items: Sequence[Item], on_judgement: Callable[[Judgement], None] | None) -> None:
        self._items = {item.id: item for item in items}
        self._judged: dict[str, Judgement] = {}
        self._on_judgement = on_judgement
        self._started_s = time.monotonic()

    def receive(self, key: str, judgement: Judgement) -> None:
        """Put an answer of the service, to the request with ``key``, on the board.

        Raises:
            FaultError: the answer is to no submission of this batch.

        """
        item = self._items.get(judgement.id)
        if item is None:
            raise FaultError(f"the service answered to {judgement.id!r}, which was not asked")
        if judgement.reward is None and item.failure_key in {"", key}:
            item.failure, item.failure_key = judgement, key
        elif judgement.id not in self._judged:
            self._settle(item, judgement)

    def unanswered(self, unit: Unit) -> list[Item]:
        """Return the items that got no answer at all."""
        return [item for item in unit.items if item.id not in self._judged and item.failure is None]

    def unsettled(self, unit: Unit) -> list[Item]:
        """Return the items without a judgement that stays."""
        return [item for item in unit.items if item.id not in self._judged]

    def give_up(self, items: Iterable[Item], reason: str) -> None:
        """Judge ``items`` IE: with the service's own failure where there is one, else with ``reason``."""
        for item in items:
            if item.id not in self._judged:
                duration_s = time.monotonic() - self._started_s
                own = unscorable(item.id, item.position, reason, total=item.total, duration_s=duration_s)
                self._settle(item, item.failure or own)

    def give_up_rest(self, reason: str) -> None:
        """Judge what is left IE, each with the last thing that went wrong for it."""
        for item in self._items.values():
            self.give_up([item], f"{reason}; last: {item.reason}")

    def judgements(self) -> list[Judgement]:
        """Return the judgements in the order of the batch; all of them are there."""
        return [self._judged[identity] for identity in self._items]

    def _settle(self, item: Item, judgement: Judgement) -> None:
        settled = judgement.model_copy(update={"index": item.position})
        self._judged[item.id] = settled
        if self._on_judgement is not None:
            self._on_judgement(settled)


def items_of(submissions: Sequence[Submission], options: Options | None) -> list[Item]:
    """Encode a batch; ``options`` are those of submissions that carry none.

    Raises:
        ProblemError: a problem cannot be written as JSON.
        EvaluatorError: two submissions have the same id.

    """
    prefix = uuid.uuid4().hex[:12]
    encoded: dict[int, tuple[EncodedProblem, float]] = {}
    seen: set[str] = set()
    items = []
    for position, given in enumerate(submissions):
        identity = given.id or f"{prefix}-{position}"
        if identity in seen:
            raise EvaluatorError(f"submissions.{position}.id: {identity!r} is used twice in this batch")
        seen.add(identity)
        update = {"id": identity} | ({"options": options} if options and given.options is None else {})
        submission = given.model_copy(update=update)
        problem, suite_s = None, 0.0
        if given.problem is not None:
            if id(given.problem) not in encoded:
                try:
                    encoded[id(given.problem)] = (
                        EncodedProblem.of(given.problem),
                        suite_wall_time_s(given.problem),
                    )
                except ProblemError as error:
                    raise ProblemError(f"submissions.{position}.problem: {error}") from error
            problem, suite_s = encoded[id(given.problem)]
        items.append(
            Item(
                position=position,
                id=identity,
                head=to_json(submission, without={"problem", "problem_id"}),
                problem=problem,
                problem_id=given.problem_id,
                total=len(given.problem.tests) if given.problem else 0,
                suite_s=suite_s,
            )
        )
    return items


def units_of(items: Sequence[Item], config: ClientConfig) -> Iterator[Unit]:
    """Cut a batch into requests: enough for all services, none over the sizes of ``config``."""
    most = min(config.chunk_submissions, -(-len(items) // len(config.urls)))
    chunk: list[Item] = []
    size_bytes = 0
    for item in items:
        if chunk and (len(chunk) >= most or size_bytes + item.size_bytes > config.chunk_bytes):
            yield Unit(tuple(chunk))
            chunk, size_bytes = [], 0
        chunk.append(item)
        size_bytes += item.size_bytes
    if chunk:
        yield Unit(tuple(chunk))
