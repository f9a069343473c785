"""Standard input, output and error of a process that was started without them."""

from __future__ import annotations

import os
import sys


def open_closed_descriptors() -> None:
    """Open ``/dev/null`` on each of the descriptors 0 to 2 that is closed, and give Python its stream.

    Else the next pipe or socket that is opened takes the number, and what is printed, or a child's output,
    goes into it.
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is taken, which is this one.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(descriptor, True)
        if getattr(sys, name) is None:
            # Closed descriptors leave None here.
            stream = os.fdopen(descriptor, mode, encoding="utf-8", errors="backslashreplace", closefd=False)
            setattr(sys, name, stream)
