"""Inside the process of a run: makes it look like a fresh interpreter, hands over to the program, ends as one."""

from __future__ import annotations

import _signal
import atexit
import builtins
import fcntl
import gc
import marshal
import os
import sys

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
FLUSH_FAILED = 120  # the interpreter's own exit code for output that it could not write
ModuleType = type(sys)


class Job:
    """What ``main`` executes at the top of its stack, and what follows: success, or an uncaught exception."""

    def __init__(
        self,
        code: CodeType,
        namespace: dict[str, Any],
        proceed: Callable[[], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self.code = code
        self.namespace = namespace
        self.proceed = proceed
        self.fail = fail


def load(request: Request, loaded: compiling.Loaded) -> Job:
    """Turn this new process into the program's and return what it is to run."""
    mode = loaded.spec["mode"]
    _take_descriptors(request)
    request.apply_limits()
    _reset_interpreter(request)
    module = ModuleType("__main__" if mode == "stdio" else CALL_MODULE)
    sys.modules[module.__name__] = module
    namespace = vars(module)
    namespace["__builtins__"] = builtins
    namespace["__file__"] = sys.argv[0]
    proceed, fail = _driver(mode, request, loaded, namespace)
    _write_source(loaded.spec["source"])
    namespace.update(loaded.names)
    if loaded.spec["prelude"]:
        from sandbox.harness import prelude

        prelude.execute(loaded.spec["prelude"], namespace)
    _hide_harness()
    code = marshal.loads(loaded.code)  # noqa: S302 - made by our own compile(), of this interpreter
    return Job(code, namespace, proceed, fail)


def _driver(
    mode: str, request: Request, loaded: compiling.Loaded, namespace: dict[str, Any]
) -> tuple[Callable[[], None], Callable[[BaseException], None]]:
    if mode == "call":
        from sandbox.harness import call, nodes

        if loaded.spec["prelude"] is None:
            namespace.update(nodes.CLASSES)
        arguments = call.read_arguments(OTHER_FD)
        return call.prepare(loaded.spec, arguments, namespace, REPORT_FD), _fail_at_once
    if mode == "assert" and request.shared:
        from sandbox.harness import shared

        return shared.prepare(loaded.spec, namespace, OTHER_FD, REPORT_FD), _fail_at_once
    if mode == "assert":
        from sandbox.harness import remote

        server = remote.Server(OTHER_FD, namespace)
        return server.serve, server.refuse
    return lambda: _end(namespace, 0), lambda error: _fail_as_a_script(namespace, error)


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


def _reset_interpreter(request: Request) -> None:
    os.setsid()
    interpreter.set_dumpable(1)
    interpreter.lift_c_recursion(request.stack_bytes)
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    os.umask(0o022)
    os.chdir(workspace.WORK)
    sys.argv[:] = [compiling.PATH]
    sys.orig_argv[:] = [sys.executable, compiling.PATH]
    _open_streams(vars(sys))
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()  # `random` does this by itself after a fork


def _open_streams(names: dict[str, Any]) -> None:
    # Not the ones that the interpreter made when it started: those know what the harness's descriptors were.
    given = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - they stay open
    output = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    errors = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)  # noqa: SIM115
    for name, stream in (("stdin", given), ("stdout", output), ("stderr", errors)):
        names[name] = names[f"__{name}__"] = stream


def _write_source(source: str) -> None:
    # Written for tracebacks that show the program's own lines, and for programs that read themselves.
    fd = os.open(compiling.PATH, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o444)
    view = memoryview(source.encode("utf-8", "replace"))
    while view:
        view = view[os.write(fd, view) :]
    os.close(fd)
    os.chmod(workspace.SOURCE, 0o555)  # noqa: S103 - read-only is what is wanted


def _hide_harness() -> None:
    for name in [name for name in sys.modules if name == "sandbox" or name.startswith("sandbox.")]:
        del sys.modules[name]


def _fail_as_a_script(namespace: dict[str, Any], error: BaseException) -> None:
    if not isinstance(error, SystemExit):
        report_uncaught(error)
        _end(namespace, 1)
    code = error.code
    if code is None:
        _end(namespace, 0)
    if isinstance(code, int):
        _end(namespace, code & 0xFF)
    _complain(code)
    _end(namespace, 1)


def _complain(code: object) -> None:
    try:
        sys.stderr.write(f"{code}\n")
    except BaseException:  # noqa: BLE001 - as the interpreter does, ignore what it cannot print
        return


def _end(namespace: dict[str, Any], code: int) -> NoReturn:
    """End as the interpreter does: threads, exit handlers, output, what the program's objects do when they go.

    A true shutdown would also free every module, which costs more than most programs.
    """
    threading = sys.modules.get("threading")
    if threading is not None:
        threading._shutdown()  # noqa: SLF001
    atexit._run_exitfuncs()  # noqa: SLF001
    flushed = flush_output()
    # A stream of the program's own class would be asked to flush when its globals are gone.
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    namespace.clear()
    gc.collect()
    flushed = flush_output() and flushed
    os._exit(code if flushed else FLUSH_FAILED)


def _fail_at_once(error: BaseException) -> None:
    # Threads that a function left behind do not keep a call from being over.
    if isinstance(error, SystemExit):
        flush_output()
        os._exit(error.code & 0xFF if isinstance(error.code, int) else 1)
    report_uncaught(error)
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


def report_uncaught(error: BaseException) -> None:
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
