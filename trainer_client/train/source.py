"""Configuration files: YAML read safely, and every fault told with its field and its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError

from trainer_client.train.config import TrainConfig
from trainer_client.train.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def load_config(path: Path) -> TrainConfig:
    """Return the configuration in ``path``; relative paths of data in it start at its folder.

    Raises:
        ConfigError: the file cannot be read, is no YAML, or has faults; each is told with its field and line.

    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: no YAML: {error}") from error
    if root is not None and (fault := _repeated(root)):
        raise ConfigError(f"{path}{fault}")
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: must be a mapping of sections")
    try:
        return TrainConfig.model_validate(values, context={"folder": path.parent})
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)
        lines = [
            f"{path}{_line(root, fault['loc'])}{_worded(fault['loc'], fault['msg'])}" for fault in faults
        ]
        raise ConfigError("\n".join(lines)) from error


def _worded(location: Sequence[int | str], message: str) -> str:
    field = ".".join(map(str, location))
    text = message.removeprefix("Value error, ")
    if text == "Extra inputs are not permitted":
        text = "there is no such field"
    return f": {field}: {text}" if field else f": {text}"


def _line(root: yaml.Node | None, location: Sequence[int | str]) -> str:
    """Return ``:line`` of the deepest part of ``location`` that the file has."""
    node, mark = root, root.start_mark if root is not None else None
    for part in location:
        if isinstance(node, yaml.MappingNode):
            found = next(((key, value) for key, value in node.value if key.value == str(part)), None)
            if found is None:
                break
            mark, node = found[0].start_mark, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            mark = node.start_mark
        else:
            break
    return f":{mark.line + 1}" if mark is not None else ""


def _repeated(node: yaml.Node) -> str | None:
    """Return where a key stands twice, of which YAML would silently keep the last."""
    pending: list[Any] = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, yaml.MappingNode):
            seen: set[str] = set()
            for key, value in one.value:
                if key.value in seen:
                    return f":{key.start_mark.line + 1}: {key.value}: stands twice"
                seen.add(key.value)
                pending.append(value)
        elif isinstance(one, yaml.SequenceNode):
            pending.extend(one.value)
    return None
