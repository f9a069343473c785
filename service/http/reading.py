"""Where bodies are read: small ones at once, large ones in reader processes started when first needed."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from service.errors import NotReadyError, WorkerLostError
from service.http.reader import Outcome
from service.intake import take_in
from service.processes.process import ChildProcess

if TYPE_CHECKING:
    from service.intake import Intake, Rules, Shape

# Reading this much takes about 2 ms, less than one round trip to another process under load would.
INLINE_BYTES = 256 << 10
READERS = 2
RETRY_AFTER_S = 5.0


class BodyReading:
    """Turns bodies into intakes without keeping the event loop waiting."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._free: asyncio.Queue[ChildProcess | None] = asyncio.Queue()
        for _ in range(READERS):
            self._free.put_nowait(None)

    async def read(self, body: list[bytes], shape: Shape) -> Intake:
        """Return the intake of a body in pieces.

        Raises:
            ClientError: as :func:`~service.intake.take_in` does.
            NotReadyError: the reader process died over it.

        """
        if sum(map(len, body)) <= INLINE_BYTES:
            return take_in(b"".join(body), shape, self._rules)
        child = await self._free.get()
        try:
            if child is None or child.exited.done():
                child = None
                child = await ChildProcess.start((sys.executable, "-m", "service.http.reader"))
                await child.tell([self._rules.model_dump_json().encode()])
            (head,) = await child.ask([shape.encode(), body], 1, None)
            outcome = Outcome.model_validate_json(head)
            problems = [await child.read() for _ in outcome.problems]
        except WorkerLostError as error:
            raise NotReadyError(f"the body's reader {error}", retry_after_s=RETRY_AFTER_S) from error
        finally:
            self._free.put_nowait(child)
        return outcome.intake(problems)

    async def close(self) -> None:
        """End the reader processes."""
        while not self._free.empty():
            child = self._free.get_nowait()
            if child is not None:
                await child.close()
