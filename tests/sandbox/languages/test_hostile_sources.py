"""Sources that attack whoever compiles them: bounded in time, memory, messages and output, and shown nothing."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import Program, Sandbox, SandboxSettings, open_sandbox
from sandbox.toolchains import compilers
from sandbox.toolchains.languages import LanguageData, read_all
from service.settings import default_python
from tests.sandbox.languages.languages_here import LIMITS, needs

pytestmark = needs("cpp20")

BOMB = (
    "template <int N, int M> struct F { static constexpr long v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };\n"
    "template <int M> struct F<0, M> { static constexpr long v = M; };\nint main() { return F<24, 1>::v; }"
)
MEMORY = "\n".join(
    ["#define A0 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"]
    + [
        f"#define A{n} A{n - 1},A{n - 1},A{n - 1},A{n - 1},A{n - 1},A{n - 1},A{n - 1},A{n - 1}"
        for n in range(1, 9)
    ]
    + ["int a[] = {A8}; int main() {}"]
)
ATTACKS = {
    "templates without end": (BOMB, "too much"),
    "constants computed without end": (
        "constexpr long f(long n) { long s = 0; for (long i = 0; i < n; i++) s += i; return s; }\n"  # noqa: ISC004
        "static_assert(f(1000000000000) == 0);\nint main() {}",
        "",
    ),
    "macros that fill memory": (MEMORY, ""),
    "a device for a header": ('#include "/dev/zero"\nint main() {}', ""),
    "chance for a header": ('#include "/dev/urandom"\nint main() {}', ""),
    "standard input for a header": ('#include "/dev/stdin"\nint main() { return x; }', "was not declared"),
    "a device for data": ('asm(".incbin \\"/dev/zero\\"");\nint main() {}', ""),
    "a huge output": ("char a[1 << 30] = {1};\nint main() { return a[5]; }", ""),
    "an output that is over the limit": (
        "char a[50 << 20] = {1};\nint main(int n, char **) { return a[n]; }",
        "no program of at most 48 MiB",
    ),
    "messages without end": (
        '#pragma message("0123456789012345678901234567890123456789")\n' * 50 + "#if __INCLUDE_LEVEL__ < 100\n"
        "#include __FILE__\n#include __FILE__\n#endif\nint main() {}",
        "",
    ),
    "a file that includes itself": ("#include __FILE__\nint main() {}", ""),
    "no text at all": ("\x00\xff\x1b[2J", ""),
    "nothing": ("", "main"),
    "very long lines": ("int main() { return " + "(" * 500_000 + "0" + ")" * 500_000 + "; }", ""),
}


@pytest.fixture(scope="module")
def strict() -> Iterator[Sandbox]:
    """Give a sandbox whose compilers get little time and memory, so that attacks on them end soon."""

    def hurried() -> list[LanguageData]:
        return [
            replace(data, compile=replace(data.compile, cpu_time_s=3.0, memory_mib=256))
            for data in read_all()
        ]

    with open_sandbox(SandboxSettings(python=default_python())) as opened:
        with pytest.MonkeyPatch.context() as patch:
            # Read once, when the first program comes.
            patch.setattr(compilers, "read_all", hurried)
            opened.session(Program("", language="c"), LIMITS).close()
        yield opened


@pytest.mark.parametrize(("source", "words"), ATTACKS.values(), ids=ATTACKS.keys())
def test_an_attack_on_the_compiler_is_a_program_that_does_not_compile(
    strict: Sandbox, source: str, words: str
) -> None:
    started = time.monotonic()
    with strict.session(Program(source, language="cpp"), LIMITS) as session:
        assert not session.compiled.ok
        assert words in session.compiled.message
        assert 0 < len(session.compiled.message) <= 4000
    assert time.monotonic() - started < 60
    # And the next one is compiled as ever.
    with strict.session(Program("int main() {}", language="c"), LIMITS) as session:
        assert session.compiled.ok


def test_a_compiler_sees_no_file_of_the_host(sandbox: Sandbox, tmp_path: Path) -> None:
    """Neither by including it nor by what it says of it: the files are not there, or are the jail's own."""
    secret = tmp_path / "secret.h"
    secret.write_text("attic_key\n")
    for path in (
        str(secret),
        "/etc/shadow",
        "/etc/hostname",
        "/proc/1/environ",
        "/proc/1/mem",
        "/root/.bashrc",
    ):
        with sandbox.session(Program(f'#include "{path}"\nint main() {{}}', language="c"), LIMITS) as session:
            assert not session.compiled.ok
            assert "attic_key" not in session.compiled.message
            assert "No such file" in session.compiled.message or "denied" in session.compiled.message, path


def test_compiling_sees_no_environment_of_the_service(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATTIC_KEY", "attic_key")
    source = (
        '__asm__(".section .rodata\\nenv: .incbin \\"/proc/self/environ\\"\\n.byte 0\\n");\nint main(void) {}'
    )
    with sandbox.session(Program(source, language="c"), LIMITS) as session:
        assert "attic_key" not in session.compiled.message
