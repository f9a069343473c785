"""Looks at a jail from inside: small programs in one session, their answers as text."""

from sandbox import End, Limits, Session, StdioInput

LIMITS = Limits(cpu_time_s=3.0, wall_time_s=15.0, memory_bytes=512 << 20, output_bytes=1 << 20)


def lines(session: Session, source: str) -> list[str]:
    result = session.run(StdioInput(source.encode()), LIMITS)
    assert (result.end, result.exit_code) == (End.EXITED, 0), result
    return result.stdout.decode().splitlines()


def outcomes(session: Session, attempts: dict[str, str], setup: str = "") -> dict[str, str]:
    """Evaluate each attempt on its own; give what it evaluates to, or the kind of exception."""
    source = (
        f"{setup}\nfor name, text in {attempts!r}.items():\n    try: print(name, '|', eval(text))\n"
        "    except Exception as error: print(name, '|', type(error).__name__)\n"
    )
    return dict(line.split(" | ", 1) for line in lines(session, source))
