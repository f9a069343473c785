"""Submissions whose right verdicts are known, sent as a careful client sends them, and what came back."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

import httpx

RETRIED_STATUS = frozenset({429, 500, 502, 503, 504})
PATIENCE_S = 180.0
PROBLEM = {"mode": "stdio", "tests": [{"input": "1 2\n", "expected": "3\n"}]}


@dataclass(slots=True)
class Tally:
    """What became of a load. Every submission has one answer, which is right or a failure of ours (IE)."""

    sent: int = 0
    answers: dict[str, str] = field(default_factory=dict)
    right: dict[str, str] = field(default_factory=dict)
    changed: int = 0

    @property
    def answered(self) -> int:
        """Return the number of submissions with an answer."""
        return len(self.answers)

    @property
    def lost(self) -> int:
        """Return the number of submissions without one."""
        return self.sent - self.answered

    @property
    def failures(self) -> int:
        """Return the number of submissions that we failed."""
        return sum(verdict == "IE" for verdict in self.answers.values())

    @property
    def wrong(self) -> int:
        """Return the number of submissions with a verdict that is not theirs, or with two different ones."""
        return self.changed + sum(
            verdict not in {"IE", self.right[name]} for name, verdict in self.answers.items()
        )


class Load:
    """Batches sent side by side, each by a thread; a call that fails is repeated under its idempotency key."""

    def __init__(self, url: str, *, batches: int, submissions: int, seconds_each: float) -> None:
        self.tally = Tally()
        self._url = url
        self._bodies = [self._body(submissions, seconds_each) for _ in range(batches)]
        self._lock = threading.Lock()
        self._threads = [threading.Thread(target=self._send, args=(body, True)) for body in self._bodies]
        self._keys = {id(body): uuid.uuid4().hex for body in self._bodies}

    def start(self) -> None:
        """Send everything."""
        for thread in self._threads:
            thread.start()

    def finish(self) -> Tally:
        """Wait for all answers, ask for each once more, and return what came back."""
        for thread in self._threads:
            thread.join()
        for body in self._bodies:
            self._send(body, False)
        return self.tally

    def _body(self, submissions: int, seconds_each: float) -> dict[str, Any]:
        rows = []
        for number in range(submissions):
            name = uuid.uuid4().hex
            offset = number % 2
            code = (
                f"import time; time.sleep({seconds_each}); a, b = map(int, input().split()); "
                f"print(a + b + {offset})  # {name}"
            )
            rows.append({"id": name, "code": code, "problem": PROBLEM})
            self.tally.right[name] = "WA" if offset else "AC"
            self.tally.sent += 1
        return {"submissions": rows}

    def _send(self, body: dict[str, Any], first: bool) -> None:  # noqa: FBT001 -- a thread's target
        headers = {"Idempotency-Key": self._keys[id(body)]}
        deadline_s = time.monotonic() + PATIENCE_S
        with httpx.Client(base_url=self._url, timeout=PATIENCE_S) as client:
            while time.monotonic() < deadline_s:
                try:
                    answer = client.post("/evaluate/batch", json=body, headers=headers)
                except httpx.TransportError:
                    time.sleep(0.3)
                    continue
                if answer.status_code in RETRIED_STATUS:
                    time.sleep(min(2.0, float(answer.headers.get("retry-after", "1"))))
                    continue
                answer.raise_for_status()
                self._note(answer.json()["judgements"], first=first)
                return

    def _note(self, judgements: list[dict[str, Any]], *, first: bool) -> None:
        with self._lock:
            for one in judgements:
                before = self.tally.answers.setdefault(one["id"], one["verdict"])
                if before != one["verdict"] or (first and one["reward"] is None) != (
                    first and one["verdict"] == "IE"
                ):
                    self.tally.changed += 1
