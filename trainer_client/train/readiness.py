"""Whether a run has a judge: asked once, before anything is loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx

from trainer_client.train.errors import RunError

if TYPE_CHECKING:
    from trainer_client.train.config import EvaluatorSection

TIMEOUT_S = 10.0


def check_ready(section: EvaluatorSection) -> str:
    """Return in words which services are ready.

    Raises:
        RunError: none of them is.

    """
    answers = {url: _state(url) for url in section.urls}
    ready = [url for url, state in answers.items() if state is None]
    if not ready:
        told = "; ".join(f"{url}: {state}" for url, state in answers.items())
        raise RunError(f"evaluator.urls: no service is ready: {told}. `make serve` starts one")
    return f"{len(ready)} of {len(answers)} ready: {', '.join(ready)}"


def _state(url: str) -> str | None:
    """Return None if the service at ``url`` is ready, else why not."""
    try:
        answer = httpx.get(f"{url}/readyz", timeout=TIMEOUT_S, trust_env=False)
    except httpx.HTTPError as error:
        return str(error) or type(error).__name__
    return None if answer.is_success else f"HTTP status {answer.status_code}"
