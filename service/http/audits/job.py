"""The child process that holds one audit of the service, so that neither parsing nor plotting keeps it waiting.

Frames in: a :class:`Setup` and the body of the request. Frames out: an :class:`~service.http.reader.Outcome` of the
body, and the ids of the stored problems that it names, as a JSON list. Frames in: these problems as JSON. Frames out:
another outcome, and the number of runs. Then the service asks, by one word a frame:

- ``next``: the next runs to be judged, as an outcome, whose ``items`` say where they stand in their slice, and as many
  problems as it names keys; no items where there are no more;
- ``judged``, followed by the run's number and its judgement: answers the number of runs that have ended;
- ``report``, followed by what the workers' sandbox is: answers the report as JSON, and as a page.

Started as ``python -m service.http.audits.job DESCRIPTOR``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from service.audit.engine import reported
from service.audit.runs import Runs, options_of
from service.errors import ClientError
from service.http.audits.request import read_request
from service.http.reader import Outcome
from service.intake import Rules
from service.processes.child import run_child
from service.queue.work import intake_of
from service.settings import LogFormat, LogLevel
from service.telemetry import configure_logging

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.http.audits.request import Order
    from service.processes.frames import Blob, Channel

JOB_COMMAND = (sys.executable, "-m", "service.http.audits.job")
NEXT, JUDGED, REPORT = b"next", b"judged", b"report"
# Programs that a trainer waits for go first.
NICENESS = 10
SLICE_RUNS = 256
SLICE_BYTES = 16 << 20


class Setup(BaseModel):
    """What the service lends: what it accepts, and how it logs."""

    model_config = ConfigDict(frozen=True)

    rules: Rules
    log_level: LogLevel
    log_format: LogFormat


def serve(channel: Channel) -> int:
    """Hold one audit until the channel closes; return the process's exit status."""
    hello, body = channel.read(), channel.read()
    if hello is None or body is None:
        return 0
    setup = Setup.model_validate_json(hello)
    configure_logging(setup.log_level, setup.log_format)
    try:
        order = _order(channel, body, setup.rules)
    except ClientError as error:
        channel.write([Outcome.of_error(error).model_dump_json().encode(), b"0"])
        return 0
    del body
    if order is None:
        return 0
    os.nice(NICENESS)
    desk = _Desk(channel, order, setup.rules)
    channel.write([Outcome().model_dump_json().encode(), str(desk.total).encode()])
    desk.work()
    return 0


def _order(channel: Channel, body: Blob, rules: Rules) -> Order | None:
    """Return what is ordered, or None where the service hung up. Raises ClientError."""
    draft = read_request(bytes(body), rules)
    named = draft.named
    channel.write([Outcome().model_dump_json().encode(), json.dumps(named).encode()])
    contents = []
    for _ in named:
        content = channel.read()
        if content is None:
            return None
        contents.append(content)
    return draft.order(contents)


class _Desk:
    def __init__(self, channel: Channel, order: Order, rules: Rules) -> None:
        self._channel = channel
        self._order = order
        self._rules = rules
        self._runs = Runs(order.loaded.items, order.plan.repeats)
        self._sent = 0
        self._started_s = time.perf_counter()

    @property
    def total(self) -> int:
        return len(self._runs.items)

    def work(self) -> None:
        while (word := self._channel.read()) is not None:
            try:
                self._channel.write(self._answer(bytes(word)))
            except ConnectionError:
                return

    def _answer(self, word: bytes) -> Sequence[Blob]:
        if word == NEXT:
            return self._slice()
        if word == JUDGED:
            run, judgement = self._more(), self._more()
            return [str(self._runs.note(int(run), judgement)).encode()]
        report = reported(
            self._order.loaded,
            self._runs.observations(),
            json.loads(self._more()),
            self._order.plan,
            self._started_s,
        )
        # Plotting takes a second to import.
        from service.audit.page.report_page import rendered  # noqa: PLC0415

        return [report.model_dump_json().encode(), rendered(report).encode()]

    def _more(self) -> Blob:
        frame = self._channel.read()
        if frame is None:
            raise ConnectionError("the service is gone")
        return frame

    def _slice(self) -> Sequence[Blob]:
        options = options_of(self._rules.isolation)
        work = self._runs.items[self._sent : self._sent + SLICE_RUNS]
        intake = intake_of(work, self._rules.defaults, lambda _: options, observe=True)
        count, size_bytes = 0, 0
        seen: set[str] = set()
        for item in intake.items:
            size_bytes += len(item.submission)
            if item.problem not in seen:
                seen.add(item.problem)
                size_bytes += len(intake.problems[item.problem])
            if count and size_bytes > SLICE_BYTES:
                break
            count += 1
        items = intake.items[:count]
        problems = {key: intake.problems[key] for key in dict.fromkeys(item.problem for item in items)}
        self._sent += count
        outcome = Outcome(items=items, problems=list(problems))
        return [outcome.model_dump_json().encode(), *problems.values()]


if __name__ == "__main__":
    run_child(serve)
