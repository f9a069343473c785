"""What processes that are started anew run in tests of the client."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.trainer_client.live import RIGHT, WRONG


def rewards_of(client: Any, problem: str) -> Any:
    """Use a client in this process."""
    with client:
        return client.rewards([RIGHT, WRONG], [problem] * 2)


def outcome_of(method: Any, arguments: tuple[Any, ...]) -> Any:
    """Call an adapter's method, whichever kind it is, in this process."""
    result = method(*arguments)
    return asyncio.run(result) if asyncio.iscoroutine(result) else result


def trl_outcome(reward: Any, problem: str) -> Any:
    """Call TRL's reward in this process."""
    return asyncio.run(reward(completions=[RIGHT, WRONG], problem=[problem] * 2))


def ms_swift_outcome(reward: Any, problem: str) -> Any:
    """Call ms-swift's reward in this process."""
    return reward([RIGHT, WRONG], problem=[problem] * 2)
