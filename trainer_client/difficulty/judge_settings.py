"""What makes two ratings comparable: the judging model and how it was asked. And how its server is reached."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    SecretStr,
    model_validator,
)

from trainer_client.difficulty.prompt import PROMPT_VERSION

Structured = Literal["auto", "json_schema", "json_object", "none"]
Omittable = Literal["temperature", "max_tokens", "seed"]
MAX_ATTEMPTS = 100


class JudgeSettings(BaseModel):
    """How a problem is rated. Ratings made under different settings are never mixed, nor are scores compared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Annotated[str, Field(min_length=1)]
    rubric: str
    """The rubric's digest."""
    prompt_version: int = PROMPT_VERSION
    ratings: int = Field(3, ge=1, le=100)
    """Independent ratings of each problem."""
    temperature: Annotated[FiniteFloat, Field(ge=0, le=2)] = 0.7
    max_tokens: int = Field(4096, ge=1)
    """Most tokens of an answer, a reasoning model's thoughts among them."""
    seed: int = 0
    """Seeds of requests are counted from here: each rating has its own, each repetition another."""
    structured: Structured = "auto"
    """``response_format`` asked for; ``auto`` takes the strictest that the server does not refuse."""
    omit: tuple[Omittable, ...] = ()
    """Fields that are left out of requests, for servers that refuse them."""
    extra_body: dict[str, JsonValue] = {}
    """Further fields of a request, such as ``chat_template_kwargs`` of vLLM."""

    @model_validator(mode="after")
    def _independent(self) -> Self:
        if self.ratings > 1 and self.temperature == 0 and "temperature" not in self.omit:
            raise ValueError(
                f"temperature: {self.ratings} ratings at temperature 0 are one rating, {self.ratings} times; "
                "take a higher one, or --ratings 1"
            )
        return self

    def sampling(self, index: int, attempt: int) -> dict[str, Any]:
        """Return the fields of a request that say how the rating with number ``index`` is drawn."""
        fields = {
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            # The same seed would bring back the same answer that could not be read.
            "seed": self.seed + MAX_ATTEMPTS * index + attempt,
        }
        return {name: value for name, value in fields.items() if name not in self.omit}


def _api_url(url: str) -> str:
    scheme, separator, rest = url.partition("://")
    if scheme not in {"http", "https"} or not separator or not rest.strip("/"):
        raise ValueError(f"{url!r} is no URL of an API; it looks like http://127.0.0.1:8001/v1")
    return url


class Connection(BaseModel):
    """How the judging model's server is reached; none of it changes what a rating is."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: Annotated[str, AfterValidator(_api_url)]
    api_key: SecretStr | None = None
    concurrency: int = Field(16, ge=1, le=1024)
    """Requests under way at a time."""
    timeout_s: float = Field(600.0, gt=0)
    """Most seconds that one request may take."""
    retries: int = Field(6, ge=0, le=100)
    """Repetitions of a request after 408, 409, 429, 5xx, or no answer, with growing pauses or those of Retry-After."""
    attempts: int = Field(4, ge=1, le=MAX_ATTEMPTS)
    """Answers asked for until one of them holds scores."""
