"""Makes the interpreter in the jail run programs as a fresh one would. Standard library only, runs in the jail."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PR_SET_DUMPABLE = 4
IMMORTAL_VERSIONS = ((3, 12), (3, 13))
IMMORTAL_KINDS = (
    FunctionType,
    BuiltinFunctionType,
    CodeType,
    ModuleType,
    CellType,
    MethodDescriptorType,
    WrapperDescriptorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    property,
    classmethod,
    staticmethod,
    dict,
    tuple,
    frozenset,
    str,
    bytes,
    int,
    float,
)
THREAD_STACK_BYTES = 8 << 20
# Measured on CPython 3.12, where a level of recursion counts as up to three calls: 180 for a cached function that
# calls itself, 360 through re.sub().
BYTES_PER_C_CALL = 512


LIBC = ctypes.CDLL(None)
# The interpreter's lock stays held meanwhile. glibc has it from 2.34 on.
FORK = getattr(ctypes.PyDLL(None, use_errno=True), "_Fork", os.fork)


def prctl(option: int, value: int) -> None:
    """Set one option of this process (prctl)."""
    LIBC.prctl(option, value, 0, 0, 0)


def fork() -> int:
    """Fork this process of a single thread, as ``os.fork`` does, but without running the modules' hooks.

    The hooks touch memory all over the heap, and each page that a child touches is copied. What they would do for
    a program is done by name: see ``program.py``.
    """
    pid: int = FORK()  # no OSError otherwise: -1 and errno
    if pid < 0:
        raise OSError(ctypes.get_errno(), "fork failed")
    return pid


def set_dumpable(value: int) -> None:
    """Forbid (0) or allow (1) other processes of this user to look into this one through /proc."""
    prctl(PR_SET_DUMPABLE, value)


def limit_thread_stacks() -> None:
    """Give threads 8 MiB stacks by default: glibc would take RLIMIT_STACK, which is large for deep recursion."""
    attributes = ctypes.create_string_buffer(64)  # sizeof(pthread_attr_t) is 56
    if LIBC.pthread_getattr_default_np(attributes) == 0:
        LIBC.pthread_attr_setstacksize(attributes, ctypes.c_size_t(THREAD_STACK_BYTES))
        LIBC.pthread_setattr_default_np(attributes)


def share_for_good() -> None:
    """Make all that this process has loaded immortal and take it out of the garbage collector's sight.

    A forked child would otherwise copy every page on which it counts a reference or marks an object. An immortal
    object is one with a special reference count (PEP 683): the one that None has is copied into the others, where
    the layout is known and a probe confirms it. Types without a way to be resized or reused in place only.
    """
    gc.collect()
    if sys.version_info[:2] in IMMORTAL_VERSIONS and _counts_lie_first():
        immortal = ctypes.c_uint32.from_address(id(None)).value
        for item in _all_objects():
            ctypes.c_uint32.from_address(id(item)).value = immortal
    gc.freeze()


def _counts_lie_first() -> bool:
    probe = object()
    names = [probe] * 7
    counted = ctypes.c_uint32.from_address(id(probe)).value
    return counted == sys.getrefcount(probe) - 1 == len(names) + 1


def _all_objects() -> list[object]:
    """Return what can be reached from the collector's objects and lives as long as this process."""
    kinds = (*IMMORTAL_KINDS, type)
    pending: list[object] = gc.get_objects()
    seen = {id(pending)}
    found: list[object] = []
    while pending:
        item = pending.pop()
        if id(item) in seen or isinstance(item, FrameType):
            continue
        seen.add(id(item))
        pending += gc.get_referents(item)
        if isinstance(item, CodeType):
            pending += (item.co_consts, item.co_names)
        if isinstance(item, kinds):
            found.append(item)
    return found


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
