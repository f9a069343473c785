"""Messages of the control channel, without a parser worth attacking and without imports that cost a start.

To the harness: marshalled plain data; only the trusted side writes there. From the harness: lines of ``name value``
in ASCII, numbers and short words only.
"""

from __future__ import annotations

import marshal

# Format 2 is the same in every Python 3.
MARSHAL_VERSION = 2
MAX_MESSAGE_BYTES = 1 << 16

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def to_harness(message: dict[str, Any]) -> bytes:
    """Write a message for the harness."""
    return marshal.dumps(message, MARSHAL_VERSION)


def in_harness(data: bytes) -> dict[str, Any]:
    """Read a message of the side that started this harness."""
    message: dict[str, Any] = marshal.loads(data)  # noqa: S302 - see the module's first lines
    return message


def from_harness(facts: dict[str, object]) -> bytes:
    """Write facts; text is kept to one printable line."""
    lines = [
        f"{name} {ascii(value)[1:-1] if isinstance(value, str) else repr(value)}"
        for name, value in facts.items()
    ]
    return "\n".join(lines).encode("ascii")[:MAX_MESSAGE_BYTES]


def outside(data: bytes) -> dict[str, str]:
    """Read facts as text; whoever uses one converts it to what it must be. Raises ValueError."""
    return dict(line.split(" ", 1) for line in data.decode("ascii").split("\n"))


def unescaped(text: str) -> str:
    """Return a text of ``outside`` as it was written. Raises ValueError."""
    return text.encode("ascii").decode("unicode_escape")
