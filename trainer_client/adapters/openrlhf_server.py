"""OpenRLHF: its remote reward model's HTTP shape, for ``--reward.remote_url http://...``.

``python -m trainer_client.adapters.openrlhf_server http://judge:8000`` listens on the loopback interface and asks
the service. A body is ``{"query": [...], "prompts": [...], "labels": [...]}``, the answer ``{"rewards": [...],
"scores": [...], "extra_logs": {...}}``. What nobody could judge is a 503, which OpenRLHF repeats.
"""

from __future__ import annotations

import argparse
import json
import logging
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from trainer_client.adapters.openrlhf import OpenRLHFReward
from trainer_client.errors import EvaluatorError, TooManyUnscorableError, UnscorableError

if TYPE_CHECKING:
    from collections.abc import Sequence

DEFAULT_PORT = 8001
FIELDS = ("query", "prompts", "labels")

_log = logging.getLogger(__name__)


def serve(reward: OpenRLHFReward, host: str, port: int) -> ThreadingHTTPServer:
    """Return a server of ``reward``, listening but not yet serving; port 0 takes a free one."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            status, answer = _answer(reward, self.rfile.read(int(self.headers.get("Content-Length", 0))))
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the base class's name
            _log.debug(format, *args)

    return ThreadingHTTPServer((host, port), Handler)


def _answer(reward: OpenRLHFReward, raw: bytes) -> tuple[HTTPStatus, dict[str, Any]]:
    try:
        body = json.loads(raw)
        queries, prompts, labels = (body[name] for name in FIELDS)
        answer = reward(queries, prompts, labels)
    except (UnscorableError, TooManyUnscorableError) as error:
        return HTTPStatus.SERVICE_UNAVAILABLE, {"error": str(error)}
    except (ValueError, KeyError, TypeError) as error:
        return HTTPStatus.BAD_REQUEST, {
            "error": f"not an object with the lists {', '.join(FIELDS)}: {error!r}"
        }
    except EvaluatorError as error:
        return HTTPStatus.UNPROCESSABLE_ENTITY, {"error": str(error)}
    if len(queries) == 1:
        # Over HTTP there are always lists.
        logs = {name: [value] for name, value in answer["extra_logs"].items()}
        answer = {"rewards": [answer["rewards"]], "scores": [answer["scores"]], "extra_logs": logs}
    return HTTPStatus.OK, answer


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="OpenRLHF's remote reward model, answered by an evaluator.")
    parser.add_argument("urls", nargs="+", help="URLs of the evaluator")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="0 takes a free one")
    options = parser.parse_args(arguments)
    with serve(OpenRLHFReward(options.urls), options.host, options.port) as server:
        host, port = server.server_address[:2]
        print(f"http://{host!s}:{port}/get_reward", flush=True)  # noqa: T201 -- a command's output
        server.serve_forever()


if __name__ == "__main__":
    main()
