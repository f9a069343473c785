"""How a client behaves: fixed when it is made, sent along when it is pickled."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


def _base_url(url: str) -> str:
    example = "it looks like http://judge.example:8000"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ValueError(f"{url!r} is no URL of a service ({error}); {example}") from None
    sound = parts.scheme in {"http", "https"} and parts.hostname and port != 0 and url.isprintable()
    if not sound or " " in url or parts.query or parts.fragment:
        raise ValueError(f"{url!r} is no URL of a service; {example}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("names and passwords in a URL are not sent; `api_key` is what a service asks for")
    return url.rstrip("/")


def _header_text(key: SecretStr) -> SecretStr:
    text = key.get_secret_value()
    # A line end read along with a key from its file would make every request impossible.
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ValueError("must be printable ASCII without blanks or line ends")
    return key


class ClientConfig(BaseModel):
    """Settings of :class:`EvaluatorClient` and :class:`AsyncEvaluatorClient`, per process."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    urls: Annotated[tuple[Annotated[str, AfterValidator(_base_url)], ...], Field(min_length=1)]
    """Services to use; those with the fewest requests under way come first, those that fail rest."""
    api_key: Annotated[SecretStr, AfterValidator(_header_text)] | None = None
    """Sent as a bearer token."""

    concurrency: int = Field(16, ge=1, le=1024)
    """Requests under way at a time, all URLs together."""
    chunk_submissions: int = Field(32, ge=1, le=10_000)
    """Most submissions of one request."""
    chunk_bytes: int = Field(16 << 20, ge=1)
    """Size at which a request takes no more submissions, before compression and with its problems."""

    connect_timeout_s: Seconds = 5.0
    stall_s: Seconds = 60.0
    """Silence, beyond what the tests may take, after which the client asks again under the same Idempotency-Key.
    Services without such keys are waited for until the deadline instead."""
    queue_wait_s: Seconds = 900.0
    """Time that a batch may wait for its turn; its deadline is this plus what its longest submission may take."""
    max_deadline_s: Seconds = 3600.0
    """Most time that a batch may take, whatever its limits."""
    first_backoff_s: Seconds = 0.25
    max_backoff_s: Seconds = 15.0

    partial_credit: bool = False
    """Reward the share of tests passed instead of 1 for all and 0 otherwise; all tests are then run."""
    max_unscorable_share: float | None = Field(0.5, gt=0, le=1)
    """Share of the last ``unscorable_window`` samples beyond which the client raises; None never does."""
    unscorable_window: int = Field(256, ge=1)
    progress: bool | None = None
    """Progress bar and summary on standard error; None: for long batches on a terminal."""
