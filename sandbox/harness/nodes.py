"""Linked lists and binary trees of call problems, between level-order lists and nodes.

Level order, as problem sets write it: ``[1, 2, 3, null, 4]``; a missing child is null and has no children listed;
trailing nulls are dropped.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any

from sandbox.harness.plain import NotPlainError

MAX_NODES = 1_000_000
MANY = re.compile(r"^(?:typing\.)?[Ll]ist\[(?:Optional\[)?(ListNode|TreeNode)\]?\]$")


class ListNode:
    """A node of a singly linked list."""

    def __init__(self, val: Any = 0, next: Any = None) -> None:  # noqa: A002 - the name that programs use
        self.val = val
        self.next = next


class TreeNode:
    """A node of a binary tree."""

    def __init__(self, val: Any = 0, left: Any = None, right: Any = None) -> None:
        self.val = val
        self.left = left
        self.right = right


CLASSES = {"ListNode": ListNode, "TreeNode": TreeNode}


def build(value: Any, kind: str) -> Any:
    """Return ``value`` as an argument of type ``kind``: nodes for ListNode and TreeNode, lists of them, or itself."""
    kind = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind
    if many := MANY.match(kind):
        return value and [build(item, many.group(1)) for item in value]
    if kind == "ListNode":
        return _linked(value)
    if kind == "TreeNode":
        return _tree(value)
    return value


def flatten(value: Any, kind: str) -> Any:
    """Return a result of type ``kind`` as plain data. Raises NotPlainError for a cyclic or too large one."""
    kind = kind.removeprefix("Optional[").removesuffix("]") if kind.startswith("Optional[") else kind
    if many := MANY.match(kind):
        return value and [flatten(item, many.group(1)) for item in value]
    if kind == "ListNode":
        return _unlinked(value)
    if kind == "TreeNode":
        return _levels(value)
    return value


def _linked(values: list[Any] | None) -> ListNode | None:
    head: ListNode | None = None
    for value in reversed(values or []):
        head = ListNode(value, head)
    return head


def _unlinked(node: Any) -> list[Any]:
    values: list[Any] = []
    seen: set[int] = set()
    while node is not None:
        if id(node) in seen or len(values) >= MAX_NODES:
            raise NotPlainError("a cyclic or too large linked list")
        seen.add(id(node))
        values.append(node.val)
        node = node.next
    return values


def _tree(values: list[Any] | None) -> TreeNode | None:
    if not values or values[0] is None:
        return None
    items = iter(values)
    root = TreeNode(next(items))
    waiting = deque([root])
    for value in items:
        parent = waiting[0]
        child = TreeNode(value) if value is not None else None
        if not hasattr(parent, "placed"):
            parent.left, parent.placed = child, True  # type: ignore[attr-defined]
        else:
            parent.right = child
            del parent.placed
            waiting.popleft()
        if child is not None:
            waiting.append(child)
    for parent in waiting:
        parent.__dict__.pop("placed", None)
    return root


def _levels(root: Any) -> list[Any]:
    values: list[Any] = []
    seen: set[int] = set()
    waiting = deque([root])
    while waiting:
        node = waiting.popleft()
        if node is None:
            values.append(None)
            continue
        if id(node) in seen or len(seen) >= MAX_NODES:
            raise NotPlainError("a cyclic or too large tree")
        seen.add(id(node))
        values.append(node.val)
        waiting += (node.left, node.right)
    while values and values[-1] is None:
        values.pop()
    return values
