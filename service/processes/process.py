"""The service's side of a child process: started afresh, never forked; killed with all it has started."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

from service.errors import WorkerLostError
from service.processes.frames import receive_frame, send_frames

if TYPE_CHECKING:
    from collections.abc import Sequence

    from service.processes.frames import Frame

EXIT_GRACE_S = 5.0


class ChildProcess:
    """A running child, leader of its process group: killing it takes along the programs that it judges."""

    def __init__(self, process: asyncio.subprocess.Process, sock: socket.socket) -> None:
        self._process = process
        self._sock = sock
        self._exited = asyncio.ensure_future(process.wait())

    @classmethod
    async def start(cls, command: Sequence[str]) -> ChildProcess:
        """Start ``command`` with the number of its socket's descriptor appended.

        Raises:
            OSError: it cannot be started.

        """
        ours, theirs = socket.socketpair()
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                str(theirs.fileno()),
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        return cls(process, ours)

    @property
    def pid(self) -> int:
        """Return its process id, which is its process group's as well."""
        return self._process.pid

    @property
    def exited(self) -> asyncio.Future[int]:
        """Return what becomes done when the process has ended. Not to be cancelled."""
        return self._exited

    async def ask(self, frames: Sequence[Frame], answers: int, timeout_s: float | None) -> list[bytearray]:
        """Send frames and return the next ``answers`` frames.

        Raises:
            WorkerLostError: the child died, or did not answer within ``timeout_s`` and was killed.

        """
        try:
            async with asyncio.timeout(timeout_s):
                await send_frames(self._sock, frames)
                return [await receive_frame(self._sock) for _ in range(answers)]
        except TimeoutError:
            await self.kill()
            raise WorkerLostError(f"did not answer within {timeout_s:g} s and was killed") from None
        except ConnectionError:
            # It hung up on its way out; killing it before it is gone would hide why it ended.
            await asyncio.wait([self._exited], timeout=EXIT_GRACE_S)
            await self.kill()
            raise WorkerLostError(f"died ({_ending(await self._exited)})") from None
        except asyncio.CancelledError:
            # Half a conversation cannot be resumed.
            await self.kill()
            raise

    async def tell(self, frames: Sequence[Frame]) -> None:
        """Send frames that have no answer.

        Raises:
            WorkerLostError: the child died.

        """
        await self.ask(frames, 0, None)

    async def read(self) -> bytearray:
        """Return one more frame of an answer, without a time limit.

        Raises:
            WorkerLostError: the child died.

        """
        return (await self.ask([], 1, None))[0]

    async def kill(self) -> None:
        """Kill the process group and wait until the process is gone. Does nothing the second time."""
        if not self._exited.done():
            # Not found: it has ended by itself and only waits to be reaped.
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        await asyncio.shield(self._exited)
        self._sock.close()

    async def close(self) -> None:
        """Hang up, so that the child closes what it has open; kill it where it takes too long."""
        self._sock.close()
        await asyncio.wait([self._exited], timeout=EXIT_GRACE_S)
        await self.kill()


def _ending(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
