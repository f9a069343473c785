"""A server that answers like an OpenAI-compatible chat-completions API, on real HTTP, with faults on demand.

Statements of these tests say how hard they are (``level 6.5``), which the judge behind this server reads, so that what
a prediction has to come to is known.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse

from trainer_client.difficulty.rubric import load_rubric

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = load_rubric().names
PROMPT_TOKENS, COMPLETION_TOKENS = 700, 40
_LEVEL = re.compile(r"level (\d+(?:\.\d+)?)")


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    body: dict[str, Any]
    headers: dict[str, str]
    at_s: float

    @property
    def statement(self) -> str:
        """The problem's text."""
        text: str = self.body["messages"][-1]["content"]
        return text.partition("<problem>\n")[2].partition("\n</problem>")[0]

    @property
    def level(self) -> float:
        """How hard the statement says it is."""
        found = _LEVEL.search(self.statement)
        assert found
        return float(found[1])


type Answer = Callable[[Asked], Awaitable[Response]]


@dataclass
class ChatServer:
    """A running server: its URL, what it was asked, and how it answers."""

    url: str
    answer: Answer
    asked: list[Asked] = field(default_factory=list)
    most_at_a_time: int = 0
    _now: int = 0

    async def respond(self, request: Request) -> Response:
        """Answer one request."""
        asked = Asked(await request.json(), dict(request.headers), time.monotonic())
        self.asked.append(asked)
        self._now += 1
        self.most_at_a_time = max(self.most_at_a_time, self._now)
        try:
            return await self.answer(asked)
        finally:
            self._now -= 1


def completion(
    content: str | None, *, finish_reason: str = "stop", refusal: str | None = None, usage: bool = True
) -> Response:
    """Return a chat completion as the API has it."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    counted = {
        "prompt_tokens": PROMPT_TOKENS,
        "completion_tokens": COMPLETION_TOKENS,
        "total_tokens": PROMPT_TOKENS + COMPLETION_TOKENS,
    }
    return JSONResponse(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": "judge",
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason}],
            **({"usage": counted} if usage else {}),
        }
    )


def failure(status: int, message: str, **headers: str) -> Response:
    """Return an error as the API has it."""
    error = {"message": message, "type": "error", "param": None, "code": None}
    return JSONResponse({"error": error}, status_code=status, headers=headers)


def scores_text(level: float, spread: int = 0) -> str:
    """Return scores that all say ``level``, the nearest integer, and ``spread``."""
    return json.dumps(dict.fromkeys(NAMES, round(level) + spread))


async def honest(asked: Asked) -> Response:
    """Answer with the level, rounded."""
    return completion(scores_text(asked.level))


def noisy(deviation: float) -> Answer:
    """Return a judge whose every score is off by a random amount, the same for the same seed and statement."""

    async def answer(asked: Asked) -> Response:
        draw = random.Random(f"{asked.body['seed']} {asked.statement}")  # noqa: S311 -- noise, not a secret
        scores = {name: min(10, max(1, round(draw.gauss(asked.level, deviation)))) for name in NAMES}
        return completion(json.dumps(scores))

    return answer


def first(*answers: Callable[[], Response], then: Answer = honest) -> Answer:
    """Return a judge that gives ``answers`` to the first requests, one each, and is ``then``."""
    coming = iter(answers)

    async def answer(asked: Asked) -> Response:
        make = next(coming, None)
        return await then(asked) if make is None else make()

    return answer


def slow(pause_s: float, then: Answer = honest) -> Answer:
    """Return a judge that takes its time."""

    async def answer(asked: Asked) -> Response:
        await asyncio.sleep(pause_s)
        return await then(asked)

    return answer


@contextmanager
def chat_server(answer: Answer = honest) -> Iterator[ChatServer]:
    """Run a server in a thread."""
    listening = socket.create_server(("127.0.0.1", 0))
    running = ChatServer(f"http://127.0.0.1:{listening.getsockname()[1]}/v1", answer)
    app = FastAPI()
    app.post("/v1/chat/completions")(running.respond)
    server = uvicorn.Server(
        uvicorn.Config(app, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield running
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
