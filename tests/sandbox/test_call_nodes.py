"""Linked lists, trees and objects driven by operations: what call problems build and flatten."""

from collections.abc import Callable
from typing import Any

import pytest

from sandbox import Outcome, RunResult

Call = Callable[..., RunResult]


NODES = {
    "a list reversed": (
        "def f(head):\n    last = None\n    while head: head.next, last, head = last, head, head.next\n    return last",
        [[1, 2, 3]],
        ("ListNode",),
        "ListNode",
        [3, 2, 1],
    ),
    "an empty list": ("def f(head): return head", [[]], ("ListNode",), "ListNode", []),
    "no list": ("def f(head): return head is None", [None], ("ListNode",), None, True),
    "lists of lists": (
        "def f(heads): return [h.next for h in heads]",
        [[[1, 2], [3]]],
        ("List[ListNode]",),
        "List[Optional[ListNode]]",
        [[2], []],
    ),
    "a list made by the program": (
        "def f(n): return ListNode(n, ListNode(n + 1))",
        [1],
        ("int",),
        "Optional[ListNode]",
        [1, 2],
    ),
    "a class of the program's own": (
        "class ListNode:\n    def __init__(self, v): self.val, self.next = v, None\ndef f(n): return ListNode(n)",
        [5],
        (),
        "ListNode",
        [5],
    ),
    "a tree mirrored": (
        "def f(t):\n    if t: t.left, t.right = f(t.right), f(t.left)\n    return t",
        [[1, 2, 3, None, 4]],
        ("TreeNode",),
        "TreeNode",
        [1, 3, 2, None, None, 4],
    ),
    "a tree measured": (
        "def f(t): return 0 if t is None else 1 + max(f(t.left), f(t.right))",
        [[1, None, 2, 3]],
        ("Optional[TreeNode]",),
        None,
        3,
    ),
    "an empty tree": ("def f(t): return t", [[]], ("TreeNode",), "TreeNode", []),
    "a tree of one null": ("def f(t): return t is None", [[None]], ("TreeNode",), None, True),
    "a deep tree": (
        "def f(n):\n    t = None\n    for i in range(n): t = TreeNode(i, t)\n    return t",
        [3],
        (),
        "TreeNode",
        [2, 1, None, 0],
    ),
    "a list beside plain data": (
        "def f(head, n):\n    for _ in range(n): head = head.next\n    return head.val",
        [[5, 6, 7], 2],
        ("ListNode", "int"),
        "int",
        7,
    ),
}


@pytest.mark.parametrize(
    ("source", "args", "arg_types", "return_type", "value"), NODES.values(), ids=NODES.keys()
)
def test_lists_and_trees_are_built_and_flattened(
    call: Call, source: str, args: list[Any], arg_types: tuple[str, ...], return_type: str | None, value: Any
) -> None:
    result = call(source, *args, arg_types=arg_types, return_type=return_type)
    assert (result.outcome, result.value) == (Outcome.RETURNED, value), result.stderr


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("def f():\n    a = ListNode(1)\n    a.next = a\n    return a", "ListNode"),
        ("def f():\n    a = TreeNode(1)\n    a.left = a\n    return a", "TreeNode"),
        ("def f():\n    a = TreeNode(1)\n    return TreeNode(0, a, a)", "TreeNode"),
    ],
    ids=["list", "tree", "shared branch"],
)
def test_a_cyclic_list_or_tree_is_no_result(call: Call, source: str, kind: str) -> None:
    assert call(source, return_type=kind).outcome is Outcome.NOT_PLAIN


def test_operations_drive_an_object(call: Call) -> None:
    source = (
        "class Box:\n    def __init__(self, n): self.n = n\n    def add(self, k): self.n += k\n"
        "    def get(self): return self.n"
    )
    result = call(
        source,
        ["Box", "add", "get", "add", "get"],
        [[1], [2], [], [3], []],
        entry_point="Box",
        operations=True,
    )
    assert result.value == [None, None, 3, None, 6]


@pytest.mark.parametrize(
    ("source", "outcome"),
    [
        ("class Bag: pass", Outcome.NO_ENTRY_POINT),
        ("class Box: pass", Outcome.NO_ENTRY_POINT),
        ("class Box:\n    def get(self): raise ValueError('full')", Outcome.RAISED),
    ],
    ids=["another class", "no method", "raises"],
)
def test_operations_that_fail_are_no_result(call: Call, source: str, outcome: Outcome) -> None:
    result = call(source, ["Box", "get"], [[], []], entry_point="Box", operations=True)
    assert result.outcome is outcome
