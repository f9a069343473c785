"""Makes the interpreter in the jail run programs as a fresh one would. Standard library only, runs in the jail."""

from __future__ import annotations

import ctypes
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PR_SET_DUMPABLE = 4
THREAD_STACK_BYTES = 8 << 20
# Measured on CPython 3.12, where a level of recursion counts as up to three calls: 180 for a cached function that
# calls itself, 360 through re.sub().
BYTES_PER_C_CALL = 512


LIBC = ctypes.CDLL(None)


def prctl(option: int, value: int) -> None:
    """Set one option of this process (prctl)."""
    LIBC.prctl(option, value, 0, 0, 0)


def set_dumpable(value: int) -> None:
    """Forbid (0) or allow (1) other processes of this user to look into this one through /proc."""
    prctl(PR_SET_DUMPABLE, value)


def limit_thread_stacks() -> None:
    """Give threads 8 MiB stacks by default: glibc would take RLIMIT_STACK, which is large for deep recursion."""
    attributes = ctypes.create_string_buffer(64)  # sizeof(pthread_attr_t) is 56
    if LIBC.pthread_getattr_default_np(attributes) == 0:
        LIBC.pthread_attr_setstacksize(attributes, ctypes.c_size_t(THREAD_STACK_BYTES))
        LIBC.pthread_setattr_default_np(attributes)


def lift_c_recursion(stack_bytes: int) -> None:
    """Let recursion through C code (``functools.cache``) go as deep as the stack allows, also in new threads.

    CPython 3.12 and 3.13 count such calls down from a constant that sys.setrecursionlimit() does not change, so
    cached recursion fails at a depth of some hundreds or thousands that 3.11 and 3.14 run. The counter is the
    int after ``py_recursion_limit`` in PyThreadState (Include/cpython/pystate.h); its place is found by changing
    the limit twice and looking which int follows, so that another layout means no change rather than a crash.
    """
    if COUNTER_OFFSET is None:
        return
    _lift(stack_bytes)
    if "threading" in sys.modules:
        _lift_in_new_threads()


def _lift(size_bytes: int) -> None:
    if COUNTER_OFFSET is not None:
        counter = ctypes.c_int.from_address(_thread_state() + COUNTER_OFFSET)
        counter.value = max(counter.value, size_bytes // BYTES_PER_C_CALL)


def _lift_in_new_threads() -> None:
    import threading

    thread_class: Any = threading.Thread
    bootstrap = thread_class._bootstrap  # noqa: SLF001

    def _bootstrap(thread: threading.Thread) -> None:
        _lift(threading.stack_size() or THREAD_STACK_BYTES)
        bootstrap(thread)

    thread_class._bootstrap = _bootstrap  # noqa: SLF001


def _thread_state() -> int:
    get = ctypes.pythonapi.PyThreadState_Get
    get.restype = ctypes.c_void_p
    return int(get())


def _find_counter() -> int | None:
    if not (3, 12) <= sys.version_info < (3, 14):
        return None
    before = sys.getrecursionlimit()
    state = _thread_state()
    candidates = set(range(24, 96, 4))
    try:
        for probe in (12_347, 11_213):
            sys.setrecursionlimit(probe)
            candidates = {at for at in candidates if ctypes.c_int.from_address(state + at).value == probe}
    finally:
        sys.setrecursionlimit(before)
    if len(candidates) != 1:
        return None
    offset = candidates.pop() + 4
    return offset if 0 < ctypes.c_int.from_address(state + offset).value <= 20_000 else None  # noqa: PLR2004


COUNTER_OFFSET = _find_counter()
