"""Programs in these languages are run in one way only: a jail for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from sandbox import Sandbox, SandboxSettings, open_sandbox
from service.settings import default_python

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Give one sandbox."""
    with open_sandbox(SandboxSettings(kind="nsjail-cold", python=default_python())) as opened:
        yield opened
