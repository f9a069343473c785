"""The model's text in the shapes in which trainers hand it over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainer_client.errors import EvaluatorError


def completion_text(completion: Any) -> str:
    """Return the text of a completion: a string, a message, or a list of messages of which the last one counts.

    The content of a message is text or a list of parts, of which those of type ``text`` count.

    Raises:
        EvaluatorError: it is of another shape.

    """
    match completion:
        case str():
            return completion
        case {"content": content}:
            return _content_text(content)
        case [*_, {"content": content}]:
            return _content_text(content)
    raise EvaluatorError(f"completion: neither text nor messages: {type(completion).__name__}")


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if content is None:
        # A message of tool calls only.
        return ""
    if isinstance(content, Sequence):
        return "".join(part.get("text") or "" for part in content if isinstance(part, Mapping))
    raise EvaluatorError(f"completion: a message's content is {type(content).__name__}")
