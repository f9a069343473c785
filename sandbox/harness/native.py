"""The compiled helper (helper.c), where it was built from just this source; ``namespaces.py`` is the same in Python."""

from __future__ import annotations

import ctypes
import os

from sandbox.harness import filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sandbox.harness.namespaces import Settings

MAX_DESCRIPTORS = 8


class _Settings(ctypes.Structure):
    _fields_ = (
        ("channel", ctypes.c_int32),
        ("own_namespace", ctypes.c_int32),
        ("uid", ctypes.c_int32),
        ("proc", ctypes.c_int32),
        ("box_options", ctypes.c_char_p),
        ("folders", ctypes.c_char_p * 4),
        ("filter", filters.Program),
    )


def load(name: str) -> ctypes.PyDLL:
    """Return the helper of this name beside this file. Raises OSError."""
    # The interpreter's lock stays held, so that nothing of Python runs between a call and its effect.
    return ctypes.PyDLL(f"{os.path.dirname(__file__)}/{name}")


def serve_runs(library: ctypes.PyDLL, control: int, paths: list[str]) -> None:
    """Fork for each run that is asked for; return only in the process of a run."""
    names = (ctypes.c_char_p * len(paths))(*[path.encode() for path in paths])
    library.serve_runs(control, names, len(paths))


def serve(library: ctypes.PyDLL, settings: Settings) -> tuple[int, list[int]]:
    """Answer a zygote's requests; return only in a child: its operation and descriptors. Raises OSError."""
    refused = filters.Filter()
    folders = [folder.encode() for folder in settings.folders]
    given = _Settings(
        settings.channel,
        os.pidfd_open(os.getpid()),
        settings.uid,
        settings.proc,
        settings.box_options.encode(),
        (ctypes.c_char_p * 4)(*folders),
        refused.program,
    )
    fds = (ctypes.c_int * MAX_DESCRIPTORS)()
    operation: int = library.serve(ctypes.byref(given), fds)
    if operation < 0:
        raise OSError(-operation, f"a process could not be isolated: {os.strerror(-operation)}")
    return operation, list(fds)
