"""Starts harnesses in Docker containers, for hosts that have an engine but let nobody make namespaces.

Every session gets a container of its own, which no program has run in: while one is in use, the next is started and
waits, warm, with its harness loaded. Same harness, same limits, same facts as in a jail.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import docker
from docker.errors import DockerException, ImageNotFound, NotFound

from sandbox.container import frames
from sandbox.container.digest import digest
from sandbox.docker.container import BRIDGE, LABEL, ContainerPlan, configure, harness_root
from sandbox.docker.relay import Relay, Stream
from sandbox.errors import SandboxBrokenError, SandboxUnavailableError
from sandbox.interpreter import Interpreter
from sandbox.settings import SandboxSettings

ENGINE_TIMEOUT_S = 120
END_TIMEOUT_S = 10
LOG_LINES = 20
# For what the harness and the bridge need to answer; limits are changed in larger steps than they move by themselves.
SLACK_BYTES = 16 << 20
# Above the ids of ordinary users, within what an engine that remaps ids has; two for each container of this process.
FIRST_UID, UID_PAIRS, PAIRS_EACH = 20_000, 20_000, 4


class DockerJail:
    """A container with a harness that waits for a program, and our end of its channel."""

    def __init__(
        self, engine: docker.APIClient, container: str, stream: Stream, janitor: ThreadPoolExecutor
    ) -> None:
        self._engine = engine
        self._container = container
        self._stream = stream
        self._janitor = janitor
        self._wanted_bytes = self._limit_bytes = 0
        self._killed_whole = 0
        self._relay = Relay(stream, before=self._set_limit, at_end=self._look_back)
        self.channel = self._relay.channel
        self.by_group = True  # the container's own
        self.limits_processes = False
        threading.Thread(target=self._watch, daemon=True).start()

    def limit(self, memory_bytes: int, processes: int | None = None) -> None:  # noqa: ARG002 - by rlimit
        """Let programs use this much memory from the next message on, swap included."""
        self._wanted_bytes = memory_bytes

    def peak_bytes(self) -> None:
        """Say nothing: the container's own peak cannot be started anew; the harness knows that of processes."""

    def oom_kills(self) -> int:
        """Return how many processes were killed so far because the limit was reached."""
        return self._relay.kills + self._killed_whole

    def log(self) -> str:
        """Return the last lines that the harness, the bridge or the relay said."""
        try:
            said = self._engine.logs(self._container, tail=LOG_LINES)
        except (DockerException, OSError) as error:
            said = f"no log: {error}".encode()
        lines = (said + self._stream.said).decode(errors="replace").strip()
        return f"{lines}\n{self._relay.failure}".strip()

    def end(self) -> None:
        """End it with all that runs in it; the container is removed in the background."""
        self.channel.close()
        self._janitor.submit(remove, self._engine, self._container)

    def _set_limit(self, input_bytes: int) -> None:
        # Inputs lie in the container's memory, which a jail's do not.
        needed = self._relay.usage_bytes + input_bytes + self._wanted_bytes + SLACK_BYTES
        if not needed <= self._limit_bytes <= needed + SLACK_BYTES:
            self._limit_bytes = needed + SLACK_BYTES // 2
            self._engine.update_container(
                self._container, mem_limit=self._limit_bytes, memswap_limit=self._limit_bytes
            )

    def _watch(self) -> None:
        """End the stream with the container: an engine can leave it open when all of a container falls at once."""
        try:
            self._engine.wait(self._container, timeout=None)
        except (DockerException, OSError):
            return  # removed by now, or the engine is gone and the stream with it
        self._stream.close()

    def _look_back(self) -> None:
        """Find out whether the whole container fell to the limit."""
        try:
            self._engine.wait(
                self._container, timeout=END_TIMEOUT_S
            )  # without the bridge, the harness ends too
            state = self._engine.inspect_container(self._container)["State"]
        except (DockerException, OSError):
            return  # removed by now, and nobody asks any more
        self._killed_whole = int(bool(state.get("OOMKilled")))


class DockerLauncher:
    """Starts containers. ``interpreter`` is what was found in the image."""

    memory_by = "container"
    processes_by_group = False

    def __init__(self, settings: SandboxSettings) -> None:
        """Prove that the engine and the image serve. Raises SandboxUnavailableError."""
        self._settings = settings
        self._numbers = count()
        self._waiting: Future[tuple[DockerJail, dict[str, Any]]] | None = None
        self._engine = connect()
        self._starter = ThreadPoolExecutor(1, "container-starter")
        self._janitor = ThreadPoolExecutor(1, "container-janitor")
        try:
            self.interpreter = self._introduce()
        except BaseException:  # interrupts too: nobody has this object yet who could end its threads
            self.close()
            raise

    def launch(self) -> DockerJail:
        """Return the waiting container, and have the next one started. Raises SandboxBrokenError."""
        waiting = self._waiting or self._starter.submit(self._start)
        self._waiting = self._starter.submit(self._start)
        try:
            return waiting.result()[0]
        except (DockerException, OSError, ValueError) as error:
            raise SandboxBrokenError(f"no container can be started: {error}") from error

    def close(self) -> None:
        """Remove what waits, and wait until all containers of this process are gone."""
        self._starter.shutdown()
        if self._waiting is not None and self._waiting.exception() is None:
            self._waiting.result()[0].end()
        self._janitor.shutdown()
        self._engine.close()

    def _introduce(self) -> Interpreter:
        image = self._settings.docker_image
        cure = f"Build it from this version: docker build --target programs --tag {image} ."
        try:
            self._waiting = self._starter.submit(self._start)
            facts = self._waiting.result()[1]
        except ImageNotFound as error:
            raise SandboxUnavailableError(f"The engine has no image {image!r}.", cure) from error
        except (DockerException, OSError, ValueError) as error:
            raise SandboxUnavailableError(f"No container can be started: {error}", cure) from error
        if facts["digest"] != digest(str(harness_root())):
            raise SandboxUnavailableError(f"The image {image!r} holds another version's harness.", cure)
        if not facts["counted"]:
            raise SandboxUnavailableError(
                "Containers do not see their own control group for memory.",
                "Use an engine with control groups for memory and private control group namespaces.",
            )
        return Interpreter(
            executable=facts["executable"],
            version=facts["version"],
            implementation=facts["implementation"],
            numpy=facts["numpy"],
            folders=(),
            environment=None,
            binaries=(),
        )

    def _start(self) -> tuple[DockerJail, dict[str, Any]]:
        """Start one and have it introduce itself. Raises DockerException, OSError, ValueError."""
        pair = (os.getpid() * PAIRS_EACH + next(self._numbers) % PAIRS_EACH) % UID_PAIRS
        plan = ContainerPlan(
            image=self._settings.docker_image,
            uid=FIRST_UID + 2 * pair,
            disk_bytes=self._settings.disk_bytes,
            owner=f"{socket.gethostname()} {os.getpid()}",
        )
        created = self._engine.create_container_from_config(configure(plan))  # type: ignore[no-untyped-call]
        container: str = created["Id"]
        try:
            self._engine.start(container)
            bridge = self._engine.exec_create(container, list(BRIDGE), stdin=True, user=plan.bridge_user)
            stream = Stream(self._engine.exec_start(bridge["Id"], socket=True))
            facts = self._greet(container, stream)
            return DockerJail(self._engine, container, stream, self._janitor), facts
        except BaseException:  # interrupts too: a container that nobody knows of would stay
            remove(self._engine, container)
            raise

    def _greet(self, container: str, stream: Stream) -> dict[str, Any]:
        """Return what the bridge says of its container. Raises DockerException, OSError, ValueError."""
        stream.set_timeout(ENGINE_TIMEOUT_S)
        stream.send(frames.frame(frames.HELLO))
        said = next((content for kind, _, content in stream.frames() if kind == frames.HELLO), None)
        if said is None:
            log = self._engine.logs(container, tail=LOG_LINES) + stream.said
            raise ValueError(log.decode(errors="replace").strip() or "the container does not answer")
        stream.set_timeout(None)
        facts: dict[str, Any] = json.loads(said)
        return facts


def connect() -> docker.APIClient:
    """Return a client of the engine that ``DOCKER_HOST`` names, or this machine's. Raises SandboxUnavailableError."""
    try:
        engine = docker.from_env(timeout=ENGINE_TIMEOUT_S).api
        engine.ping()
        remove_stale(engine)
    except (DockerException, OSError) as error:
        reason = str(error)
    else:
        return engine
    # Out of the handler: the error's frames hold sockets of the client.
    raise SandboxUnavailableError(
        f"No Docker engine answers: {reason}.",
        "Start one, name it in DOCKER_HOST, and let this user reach it.",
    )


def remove(engine: docker.APIClient, container: str) -> None:
    """Kill and remove a container, if it is still there. Raises DockerException."""
    try:
        engine.remove_container(container, force=True, v=True)
    except NotFound:
        return


def remove_stale(engine: docker.APIClient) -> None:
    """Remove ended containers of this machine's processes that were killed before they could tidy up."""
    ended = engine.containers(all=True, filters={"label": LABEL, "status": ["exited", "dead", "created"]})
    for container in ended:
        host, _, pid = container["Labels"][LABEL].partition(" ")
        if host == socket.gethostname() and not Path("/proc", pid).exists():
            remove(engine, container["Id"])
