"""Templates and other text files of this package."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined

if TYPE_CHECKING:
    from jinja2 import Template

    from service.audit.report import Rate


def template(name: str) -> Template:
    """Return a template; whatever it shows is escaped."""
    environment = Environment(
        loader=PackageLoader("service.audit.page", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = _percent
    environment.filters["interval"] = _interval
    return environment.get_template(name)


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.2f} %"


def _interval(rate: Rate) -> str:
    return f"{100 * rate.low:.1f} to {100 * rate.high:.1f} %" if rate.total else "nothing to count"


def text_of(name: str) -> str:
    """Return the content of a file of this package."""
    return (resources.files("service.audit.page") / name).read_text(encoding="utf-8")
