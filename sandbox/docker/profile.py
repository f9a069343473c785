"""The system calls of programs in a container, for Docker: the list of jails (``policy.kafel``), read from there.

Added is what the container's own two processes need to meet; the first takes it away before a program exists (see
``container/first.py``). A call has one answer for all arguments that are not allowed: a refused ``ioctl`` fails with
EPERM here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# kafel's names of calls that Linux and Docker name otherwise
NAMES = {
    "newstat": "stat",
    "newfstat": "fstat",
    "newlstat": "lstat",
    "newuname": "uname",
    "sendfile64": "sendfile",
}
MEETING = ("accept", "accept4", "bind", "connect", "listen", "memfd_create")
AF_UNIX = 1
COMMENT = re.compile(r"//[^\n]*")
POLICY = re.compile(r"POLICY\s+(\w+)\s*\{")
WANTED = ("programs", "single")
GROUP = re.compile(r"(ALLOW|ERRNO\((?P<number>\d+)\)|KILL_PROCESS)\s*\{(?P<body>(?:[^{}]|\{[^{}]*\})*)\}")
CALL = re.compile(
    r"\s*(?P<name>\w+)\s*(?:\((?P<arguments>[\w\s,]*)\)\s*\{(?P<condition>[^{}]*)\}\s*)?(?:,|\Z)"
)
TERM = re.compile(
    r"(?:\((?P<masked>\w+) & (?P<mask>\w+)\)|(?P<plain>\w+)) (?P<operator>==|!=) (?P<value>\w+)"
)


def render(policy: str) -> dict[str, Any]:
    """Return Docker's profile for a kafel policy that is written like ``policy.kafel``. Raises ValueError."""
    rules: list[dict[str, Any]] = []
    conditional: set[str] = set()
    for group in _groups(COMMENT.sub("", policy)):
        action = _action(group)
        for name, conditions in _calls(group["body"]):
            if name in conditional:
                continue  # without a condition it would replace the conditional rules, not follow them
            if conditions:
                conditional.add(name)
            rules += [_rule(name, action, condition) for condition in conditions] or [_rule(name, action)]
    rules += [_rule(name, {"action": "SCMP_ACT_ALLOW"}) for name in MEETING]
    rules = [rule for rule in rules if rule["names"] != ["socket"]]
    rules.append(_rule("socket", {"action": "SCMP_ACT_ALLOW"}, _condition(0, "SCMP_CMP_EQ", AF_UNIX)))
    return {"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 1, "syscalls": rules}


def _groups(text: str) -> Iterator[re.Match[str]]:
    """Yield the groups of the policies that hold in a jail of one program."""
    parts = POLICY.split(text)
    policies = dict(zip(parts[1::2], parts[2::2], strict=True))
    for name in WANTED:
        if name not in policies:
            raise ValueError(f"there is no policy {name!r}")
        yield from GROUP.finditer(policies[name])


def _action(group: re.Match[str]) -> dict[str, Any]:
    if group["number"] is not None:
        return {"action": "SCMP_ACT_ERRNO", "errnoRet": int(group["number"])}
    return {"action": "SCMP_ACT_KILL_PROCESS" if group[0].startswith("KILL") else "SCMP_ACT_ALLOW"}


def _calls(body: str) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the calls of a group, each with the conditions of which one has to hold; none: always."""
    found = []
    position = 0
    while body[position:].strip():
        call = CALL.match(body, position)
        if call is None:
            raise ValueError(f"not understood in the policy: {body[position : position + 60]!r}")
        position = call.end()
        arguments = [name.strip() for name in (call["arguments"] or "").split(",")]
        terms = " ".join((call["condition"] or "").split())
        conditions = [_parsed(term, arguments) for term in terms.split(" || ") if term]
        found.append((NAMES.get(call["name"], call["name"]), conditions))
    return found


def _parsed(text: str, arguments: list[str]) -> dict[str, Any]:
    term = TERM.fullmatch(text)
    if term is None:
        raise ValueError(f"not understood in the policy: {text!r}")
    value = int(term["value"], 0)
    index = arguments.index(term["masked"] or term["plain"])
    if term["masked"] is None:
        return _condition(index, "SCMP_CMP_EQ" if term["operator"] == "==" else "SCMP_CMP_NE", value)
    if term["operator"] == "!=":
        raise ValueError(f"Docker cannot say: {text!r}")
    return _condition(index, "SCMP_CMP_MASKED_EQ", int(term["mask"], 0), value)


def _condition(index: int, operator: str, value: int, second: int = 0) -> dict[str, Any]:
    return {"index": index, "op": operator, "value": value, "valueTwo": second}


def _rule(name: str, action: dict[str, Any], condition: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"names": [name], **action, "args": [condition] if condition else []}
