"""What the endpoints work with, made when the application starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from starlette.requests import Request

    from sandbox import Language
    from service.http.audits.jobs import Audits
    from service.http.reading import BodyReading
    from service.jobs.contract import Jobs
    from service.keys.limiter import Limiter
    from service.problems.store import ProblemStore
    from service.queue.contract import Queue
    from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Services:
    """The parts of one application."""

    settings: Settings
    queue: Queue
    jobs: Jobs
    problems: ProblemStore
    limiter: Limiter
    reading: BodyReading
    languages: list[Language]
    registry: CollectorRegistry
    audits: Audits


def services_of(request: Request) -> Services:
    """Return the parts of the application that got ``request``."""
    services: Services = request.app.state.services
    return services
