"""One rating by a model behind an OpenAI-compatible chat-completions API.

``openai`` repeats what passes by itself: no connection, time-outs, 408, 409, 429 and 5xx, with growing pauses or those
of ``Retry-After``. What is left is sorted here, in one place.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import openai
from openai.types.chat import ChatCompletion

from trainer_client.difficulty.answer import AnswerError, parse_scores
from trainer_client.difficulty.errors import JudgeError
from trainer_client.difficulty.prompt import answer_schema, messages
from trainer_client.difficulty.usage import Usage

if TYPE_CHECKING:
    from trainer_client.difficulty.judge_settings import Connection, JudgeSettings
    from trainer_client.difficulty.rubric import Rubric

# What is asked for, strictest first, and where `auto` goes when a server refuses it.
LEVELS = ("json_schema", "json_object", "none")
# Servers without keys take any; the package insists on one.
NO_KEY = "none"
SHOWN_CHARS = 300


class _RefusedError(Exception):
    """The server refuses this request as it is."""


@dataclass(frozen=True, slots=True)
class Rated:
    """What became of a rating: ``scores`` by dimension, or None and the ``reason``."""

    scores: dict[str, int] | None
    reason: str
    usage: Usage

    @classmethod
    def failed(cls, reason: str, usage: Usage) -> Rated:
        """Return a failure; the reason may quote anything that a server can say."""
        return cls(None, reason.encode("utf-8", "replace").decode(), usage)


class Rater:
    """Rates statements; belongs to one event loop."""

    def __init__(self, settings: JudgeSettings, connection: Connection, rubric: Rubric) -> None:
        """Make the client; nothing is sent yet."""
        self._settings = settings
        self._attempts = connection.attempts
        self._rubric = rubric
        key = connection.api_key
        self._client = openai.AsyncOpenAI(
            base_url=connection.url,
            api_key=key.get_secret_value() if key else NO_KEY,
            max_retries=connection.retries,
            timeout=connection.timeout_s,
        )
        automatic = settings.structured == "auto"
        self._level = 0 if automatic else LEVELS.index(settings.structured)
        self._last_level = len(LEVELS) - 1 if automatic else self._level

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def rate(self, statement: str, index: int) -> Rated:
        """Ask for the rating with number ``index`` of a statement, again where the answer holds no scores.

        Raises:
            JudgeError: the server refuses the key, or knows neither the URL nor the model.

        """
        usage = Usage()
        reason = ""
        for attempt in range(self._attempts):
            try:
                answer = await self._answer(statement, index, attempt)
                usage += _usage(answer)
                return Rated(parse_scores(_text(answer), self._rubric), "", usage)
            except AnswerError as error:
                reason = f"{self._attempts} answers without scores; the last: {error}"
            except _RefusedError as error:
                return Rated.failed(f"refused by the server: {error}", usage)
            except openai.APIStatusError as error:
                if error.status_code in {401, 403, 404}:
                    raise JudgeError(_fatal(error)) from error
                return Rated.failed(f"status {error.status_code}: {_message(error)}", usage)
            except openai.APIError as error:
                return Rated.failed(f"no answer: {_message(error)}", usage)
        return Rated.failed(reason, usage)

    async def _answer(self, statement: str, index: int, attempt: int) -> object:
        """Return what came, at the strictest level of structured output that the server does not refuse."""
        refusal: openai.APIStatusError | None = None
        for level in range(self._level, self._last_level + 1):
            try:
                answer = await self._request(statement, index, attempt, LEVELS[level])
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                # The first refusal is the one about what was wanted.
                refusal = refusal or error
            except ValueError as error:
                # It came, and may have cost something.
                return f"a body that is not JSON: {error}"
            else:
                # Refused only for what it asked for: others need not try.
                self._level = max(self._level, level)
                return answer
        raise _RefusedError(_message(refusal)) from refusal

    async def _request(self, statement: str, index: int, attempt: int, level: str) -> object:
        fields = self._settings.sampling(index, attempt)
        fields["messages"] = messages(self._rubric, statement)
        if level == "json_schema":
            schema = {"name": "scores", "schema": answer_schema(self._rubric), "strict": True}
            fields["response_format"] = {"type": level, "json_schema": schema}
        elif level == "json_object":
            fields["response_format"] = {"type": level}
        answer: object = await self._client.chat.completions.create(
            model=self._settings.model,
            extra_body=dict(self._settings.extra_body) or None,
            **fields,
        )
        return answer


def _text(answer: object) -> str:
    """Return the text of an answer. The package builds its objects without checking them.

    Raises:
        AnswerError: it is no chat completion, was refused by the model, filtered, or cut off.

    """
    if not isinstance(answer, ChatCompletion):
        raise AnswerError(f"not a chat completion but {str(answer)[:SHOWN_CHARS]!r}")
    choices: Any = answer.choices
    message = getattr(choices[0], "message", None) if isinstance(choices, list) and choices else None
    if message is None:
        raise AnswerError(
            f"a chat completion without a message: {str(answer.model_extra or '')[:SHOWN_CHARS]}"
        )
    if refusal := getattr(message, "refusal", None):
        raise AnswerError(f"the model refuses: {str(refusal)[:SHOWN_CHARS]!r}")
    finish_reason = getattr(choices[0], "finish_reason", None)
    if finish_reason == "length":
        raise AnswerError("cut off at --max-tokens")
    if finish_reason == "content_filter":
        raise AnswerError("held back by the server's content filter")
    content = getattr(message, "content", None)
    if not isinstance(content, str):
        raise AnswerError("a message without text")
    return content


def _usage(answer: object) -> Usage:
    counted = getattr(answer, "usage", None)
    prompt, completion = (getattr(counted, name, None) for name in ("prompt_tokens", "completion_tokens"))
    if type(prompt) is not int or type(completion) is not int:
        return Usage(requests=1, uncounted=1)
    return Usage(requests=1, prompt_tokens=prompt, completion_tokens=completion)


def _message(error: openai.APIError | None) -> str:
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else None
    text = " ".join(f"{error} {cause or ''}".split())
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]} ..."


def _fatal(error: openai.APIStatusError) -> str:
    hints = {
        401: "is the key right (--api-key-file)?",
        403: "may this key use the model?",
        404: "does the server know the model, and does the URL end as it wants it (vLLM: /v1)?",
    }
    return f"{error.request.url}: status {error.status_code}: {_message(error)}; {hints[error.status_code]}"
