"""Types that stand for linked lists and trees."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

_NODE = "(?:List|Tree)Node"
_MANY_NODES = rf"(?:typing\.)?[Ll]ist\[(?:{_NODE}|Optional\[{_NODE}\])\]"
_NODES = re.compile(rf"{_NODE}|{_MANY_NODES}|Optional\[(?:{_NODE}|{_MANY_NODES})\]")


def _known_type(text: str) -> str:
    # A type of nodes that nobody builds would let every program fail on plain lists.
    if "Node" in text and not _NODES.fullmatch(text):
        raise ValueError("nodes are ListNode, TreeNode, list[...] of one of them, and Optional[...] of these")
    return text


TypeName = Annotated[str, AfterValidator(_known_type)]
