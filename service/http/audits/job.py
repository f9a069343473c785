"""The child process in which one audit of the service runs, so that neither parsing nor plotting keeps it waiting.

Frames in: a :class:`Setup`, the body of the request, and, when its turn has come, an empty frame. Frames out: an
:class:`~service.http.reader.Outcome` of the body, whose ``total`` is the number of runs; then :class:`Progress` after
every run; where ``done``, the report as JSON and as a page follow.

Started as ``python -m service.http.audits.job DESCRIPTOR``.
"""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict

from service.audit.engine import audit
from service.errors import ClientError, NotReadyError
from service.http.audits.request import read_request
from service.http.reader import Outcome
from service.intake import Rules
from service.processes.child import channel_of_this_child
from service.queue.offline import NoSandboxError
from service.settings import Settings
from service.telemetry import configure_logging

if TYPE_CHECKING:
    from service.http.audits.request import Order
    from service.processes.frames import Channel

JOB_COMMAND = (sys.executable, "-m", "service.http.audits.job")
# Programs that a trainer waits for go first.
NICENESS = 10


class Setup(BaseModel):
    """What the service lends: its settings but for keys, and what it accepts."""

    model_config = ConfigDict(frozen=True)

    settings: dict[str, Any]
    rules: Rules


class Progress(BaseModel):
    """How far an audit is; ``error`` is why it ended without a report."""

    finished: int = 0
    total: int = 0
    done: bool = False
    error: str = ""


def serve(channel: Channel) -> int:
    """Run one audit; return the process's exit status."""
    hello, body = channel.read(), channel.read()
    if hello is None or body is None:
        return 0
    setup = Setup.model_validate_json(hello)
    settings = Settings(**setup.settings)
    configure_logging(settings.log_level, settings.log_format)
    try:
        order = read_request(body, setup.rules)
    except ClientError as error:
        channel.write([Outcome.of_error(error).model_dump_json().encode(), b"0"])
        return 0
    del body
    total = len(order.loaded.items) * order.plan.repeats
    channel.write([Outcome().model_dump_json().encode(), str(total).encode()])
    if channel.read() is None:
        return 0
    os.nice(NICENESS)
    _run(channel, order, settings)
    return 0


def _run(channel: Channel, order: Order, settings: Settings) -> None:
    def on_progress(finished: int, total: int) -> None:
        channel.write([Progress(finished=finished, total=total).model_dump_json().encode()])

    try:
        report = asyncio.run(audit(order.loaded, settings, order.plan, on_progress))
    except (NoSandboxError, NotReadyError) as error:
        channel.write([Progress(error=str(error)).model_dump_json().encode()])
        return
    # Plotting takes a second to import.
    from service.audit.page.report_page import rendered  # noqa: PLC0415

    done = Progress(finished=report.runs, total=report.runs, done=True)
    channel.write(
        [done.model_dump_json().encode(), report.model_dump_json().encode(), rendered(report).encode()]
    )


if __name__ == "__main__":
    sys.exit(serve(channel_of_this_child()))
