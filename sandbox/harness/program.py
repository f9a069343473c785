"""Inside the process of a run: makes it look like a fresh interpreter, hands over to the program, ends as one."""

from __future__ import annotations

import _signal
import _thread
import atexit
import builtins
import fcntl
import gc
import marshal
import os
import sys
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from types import BuiltinFunctionType, FunctionType

from sandbox.harness import compiling, interpreter, workspace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any, NoReturn

    from sandbox.harness.request import Request

REPORT_FD = 3
OTHER_FD = 4  # arguments of a call, the link to the tester, or the text of a shared test
FIRST_FREE_FD = 5
CALL_MODULE = "solution"
STREAM_NAMES = ("<stdin>", "<stdout>", "<stderr>")
FLUSH_FAILED = 120  # the interpreter's own exit code for output that it could not write
ModuleType = type(sys)
LAST_TO_GO = (type, ModuleType, FunctionType, BuiltinFunctionType, int, float, str, bytes, type(None))


class Job:
    """What ``main`` executes at the top of its stack, and what follows: success, or an uncaught exception.

    Where those return, ``after`` gives the next job.
    """

    def __init__(
        self,
        code: CodeType,
        namespace: dict[str, Any],
        proceed: Callable[[], None],
        fail: Callable[[BaseException], None],
        after: Callable[[], Job] | None = None,
    ) -> None:
        self.code = code
        self.namespace = namespace
        self.proceed = proceed
        self.fail = fail
        self._after = after

    def after(self) -> Job:
        """Return the next job of this process. It leaves the process where there is none."""
        if self._after is None:
            os._exit(FLUSH_FAILED)
        return self._after()


def load(request: Request, loaded: compiling.Loaded) -> Job:
    """Turn this new process into the program's and return what it is to run."""
    mode = loaded.spec["mode"]
    _take_descriptors(request)
    request.apply_limits()
    os.setsid()
    interpreter.set_dumpable(1)
    os.chdir(workspace.WORK)
    become_new(request.stack_bytes)
    seed(loaded.spec["source"])
    Streams().renew()
    namespace = new_namespace(mode)
    proceed, fail = _driver(mode, request, loaded, namespace)
    write_source(loaded.spec["source"])
    namespace.update(loaded.names)
    if loaded.spec["prelude"]:
        from sandbox.harness import prelude

        prelude.execute(loaded.spec["prelude"], namespace)
    hide_harness()
    code = marshal.loads(loaded.code)  # noqa: S302 - made by our own compile(), of this interpreter
    return Job(code, namespace, proceed, fail)


def new_namespace(mode: str) -> dict[str, Any]:
    """Return the globals of a module that the program is about to become."""
    module = ModuleType("__main__" if mode == "stdio" else CALL_MODULE)
    sys.modules[module.__name__] = module
    namespace = vars(module)
    namespace["__builtins__"] = builtins
    namespace["__file__"] = sys.argv[0]
    namespace["__annotations__"], namespace["__cached__"] = {}, None
    return namespace


def _driver(
    mode: str, request: Request, loaded: compiling.Loaded, namespace: dict[str, Any]
) -> tuple[Callable[[], None], Callable[[BaseException], None]]:
    if mode == "call":
        from sandbox.harness import call, nodes

        if loaded.spec["prelude"] is None:
            namespace.update(nodes.CLASSES)
        arguments = call.read_arguments(OTHER_FD)
        return call.prepare(loaded.spec, arguments, namespace, _returned()), lambda error: fail_at_once(
            error, report
        )
    if mode == "assert" and request.shared:
        from sandbox.harness import shared

        return shared.prepare(loaded.spec, namespace, OTHER_FD, REPORT_FD), lambda error: fail_at_once(
            error, report
        )
    if mode == "assert":
        from sandbox.harness import remote

        server = remote.Server(OTHER_FD, namespace)
        return server.serve, server.refuse
    return lambda: end(namespace, 0), lambda error: fail_as_a_script(namespace, error, report)


def _returned() -> Callable[[bytes], None]:
    """Return what ends this process with the record of a call."""
    # Bound now: a program may replace what modules hold.
    write, leave, flush = os.write, os._exit, flush_output

    def returned(record: bytes) -> None:
        view = memoryview(record + b"\n")
        while view:
            view = view[write(REPORT_FD, view) :]
        flush()
        leave(0)

    return returned


def _take_descriptors(request: Request) -> None:
    other = request.payload if request.payload >= 0 else request.link
    wanted = (request.stdin, request.stdout, request.stderr, request.report, other)
    # Upwards first, so that no target overwrites a source that is still needed.
    raised = [fcntl.fcntl(fd, fcntl.F_DUPFD, 64) if fd >= 0 else -1 for fd in wanted]
    for target, fd in enumerate(raised):
        if fd >= 0:
            os.dup2(fd, target, inheritable=target < REPORT_FD)
    os.closerange(FIRST_FREE_FD if other >= 0 else OTHER_FD, 1 << 16)
    if request.report < 0:
        os.closerange(REPORT_FD, REPORT_FD + 1)


def become_new(stack_bytes: int) -> None:
    """Give this process what a fresh interpreter starts with, apart from its streams and what chance decides."""
    interpreter.lift_c_recursion(stack_bytes)
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    os.umask(0o022)
    sys.argv[:] = [compiling.PATH]
    sys.orig_argv[:] = [sys.executable, compiling.PATH]


def seed(source: str) -> None:
    """Seed random numbers anew, where a program may ask for any: all forked processes start from the same state."""
    if "random" in source:
        for name in ("random", "numpy.random"):
            if name in sys.modules:
                sys.modules[name].seed()


class Streams:
    """Standard streams on descriptors 0 to 2, as a fresh interpreter has them. Those still untouched are kept."""

    def __init__(self) -> None:
        self._given = _opened("r", "strict")
        self._output = _opened("w", "strict")
        self._errors = _opened("w", "backslashreplace", 2)

    def renew(self) -> None:
        """Put streams into ``sys`` of which no program has used anything yet."""
        if _untouched(self._given, "r", "strict"):
            self._given.seek(0)
        else:
            self._given = _opened("r", "strict")
        if not _untouched(self._output, "w", "strict"):
            self._output = _opened("w", "strict")
        if not _untouched(self._errors, "w", "backslashreplace"):
            self._errors = _opened("w", "backslashreplace", 2)
        sys.stdin = sys.__stdin__ = self._given  # type: ignore[misc]
        sys.stdout = sys.__stdout__ = self._output  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = self._errors  # type: ignore[misc]


def _opened(mode: str, errors: str, fd: int | None = None) -> TextIOWrapper:
    # Not the ones that the interpreter made when it started: those know what the harness's descriptors were.
    number = fd if fd is not None else int(mode == "w")
    raw = FileIO(number, mode, closefd=False)
    raw.name = STREAM_NAMES[number]
    buffer = BufferedReader(raw) if mode == "r" else BufferedWriter(raw)
    stream = TextIOWrapper(buffer, "utf-8", errors, line_buffering=number == 2)  # noqa: PLR2004 - standard error
    stream.mode = mode  # type: ignore[misc]  # as open() does
    return stream


def _untouched(stream: TextIOWrapper, mode: str, errors: str) -> bool:
    try:
        return (
            not stream.closed
            and stream.encoding == "utf-8"
            and stream.errors == errors
            and stream.line_buffering == (errors != "strict")
            and not stream.write_through
            and vars(stream) == {"mode": mode}
        )
    except ValueError:  # detached
        return False


def write_source(source: str) -> None:
    """Write the program to its file: tracebacks show its own lines, and some programs read themselves."""
    fd = os.open(compiling.PATH, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o444)
    view = memoryview(source.encode("utf-8", "replace"))
    while view:
        view = view[os.write(fd, view) :]
    os.close(fd)
    os.chmod(workspace.SOURCE, 0o555)  # noqa: S103 - read-only is what is wanted


def hide_harness() -> None:
    """Take this package out of what the program may import."""
    for name in [name for name in sys.modules if name == "sandbox" or name.startswith("sandbox.")]:
        del sys.modules[name]


def fail_as_a_script(
    namespace: dict[str, Any], error: BaseException, report: Callable[[bytes], None]
) -> None:
    """End this process as the interpreter does after an uncaught exception."""
    if not isinstance(error, SystemExit):
        report_uncaught(error, report)
        end(namespace, 1)
    code = error.code
    if code is None:
        end(namespace, 0)
    if isinstance(code, int):
        end(namespace, _exit_code(code))
    _complain(code)
    end(namespace, 1)


def _exit_code(code: int) -> int:
    # What does not fit into a C long is -1 to the interpreter.
    return code & 0xFF if -(1 << 63) <= code < 1 << 63 else 0xFF


def _complain(code: object) -> None:
    try:
        sys.stderr.write(f"{code}\n")
    except BaseException:  # noqa: BLE001 - as the interpreter does, ignore what it cannot print
        return


def end(namespace: dict[str, Any], code: int, *, collect: bool = True) -> NoReturn:
    """End as the interpreter does: threads, exit handlers, output, what the program's objects do when they go.

    A true shutdown would also free every module, which costs more than most programs. With ``collect``, objects that
    hold each other go too.
    """
    end_threads()
    atexit._run_exitfuncs()  # noqa: SLF001
    flushed = flush_and_forget(namespace, collect=collect)
    os._exit(code if flushed else FLUSH_FAILED)


def end_threads() -> bool:
    """Wait for the program's threads as the interpreter does at its end; False where there are none."""
    if _thread._count() == 0:  # noqa: SLF001
        return False
    if "threading" in sys.modules:
        sys.modules["threading"]._shutdown()  # noqa: SLF001
    return True


def flush_and_forget(namespace: dict[str, Any], *, collect: bool = True) -> bool:
    """Write out what is buffered and let the program's objects go, with ``collect`` also those that hold each other.

    False if standard output is lost.
    """
    flushed = flush_output()
    replaced = sys.stdout is not sys.__stdout__
    # A stream of the program's own class would be asked to flush when its globals are gone.
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    if collect:
        # What finalizers use, functions, classes and modules, goes after what has them.
        for name in [name for name, value in namespace.items() if not isinstance(value, LAST_TO_GO)]:
            if name[:2] != "__":
                del namespace[name]
        gc.collect()
    namespace.clear()
    if collect:
        gc.collect()
    # Where the program had a stream of its own, the one before may have been taken apart for it.
    return (flush_output() or replaced) and flushed


def fail_at_once(error: BaseException, report: Callable[[bytes], None]) -> None:
    """End this process after a call has raised; threads that a function left behind do not keep it from being over."""
    if isinstance(error, SystemExit):
        flush_output()
        os._exit(_exit_code(error.code) if isinstance(error.code, int) else 1)
    report_uncaught(error, report)
    flush_output()
    os._exit(1)


def flush_output() -> bool:
    """Write out what is buffered, as far as the program has left that possible; False if standard output is lost."""
    flushed = True
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
        except BaseException:  # noqa: BLE001 - the program may have put anything there
            flushed = flushed and stream is not sys.stdout
    return flushed


def report_uncaught(error: BaseException, report: Callable[[bytes], None]) -> None:
    """Tell of an uncaught exception as the interpreter does, without the harness's frames."""
    if isinstance(error, MemoryError):
        report(b'{"outcome":"raised","memory":true}\n')
    else:
        report(b'{"outcome":"raised"}\n')
    trace = error.__traceback__
    while trace is not None and "/sandbox/harness/" in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def report(record: bytes) -> None:
    """Write the one record of this run; a program that has closed or filled the descriptor only harms itself."""
    try:
        os.write(REPORT_FD, record)
    except OSError:
        return
