"""Languages other than Python as data: one small file each in ``languages/``, read into the types below.

A file names the program's ``source`` file and the ``output`` of its compiler, a program (``proof``) that prints the
word that it reads, by which a toolchain proves to work, one or more ``[[variants]]`` (a name, aliases, a description,
options), and four tables:

- ``[marks]``: how its code is found in a model's completion (``CodeMarks``).
- ``[toolchain]``: ``commands`` that must be found; ``version``, the command that prints it; ``oldest``, the first
  version that will do; ``home``, a command that prints the folder in which the commands lie in ``bin`` (a single word:
  that command's own folder), for toolchains that are not spread over the system; ``folders`` that a compiler reads
  besides (patterns, where they exist).
- ``[compile]`` and ``[run]``: what ``Step`` says.

Words of commands may hold ``{source}``, ``{output}``, ``{program}`` (what was compiled, as a path; as the first word,
the compiled program itself), ``{unit}`` and ``{entry}`` (see ``naming.py``), ``{memory_mib}``, ``{stack_kib}`` and, in
the environment, ``{home}``. A word ``{options}`` stands for those of the variant.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

FOLDER = Path(__file__).parents[1] / "languages"
MIB = 1 << 20
WALL_FACTOR = 2
# Compilers are content with that, and each of their threads gets as much.
COMPILING_STACK_SHARE = 1 / 16


@dataclass(frozen=True, slots=True)
class CodeMarks:
    """How completions mark code: by a fence's tag, or, without a fence before it, by how it begins (a pattern).

    Blanks and comments before that are passed over.
    """

    fence_tags: tuple[str, ...] = ()
    beginning: str | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """One name under which a language is asked for, with the options that make it what it is."""

    name: str
    description: str
    aliases: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolchainData:
    """How a toolchain is found, and which folders it reads."""

    commands: tuple[str, ...]
    version: tuple[str, ...]
    oldest: str
    home: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """A command and what it gets.

    ``memory_limit`` says what limits memory where no memory group can be made: the whole address space, or only
    ``data``, for runtimes that reserve far more than they use; the stacks of their ``extra_processes`` are allowed
    for, and what was in use at most is checked afterwards. ``stack_share`` of the memory may be stack.
    ``handles_sigchld``: the runtime does not start unless it may; programs can then make no processes.
    Of ``run`` only: ``needs_toolchain`` shows the toolchain to programs; ``extra_*`` is what the runtime itself needs
    above a test's limits; ``out_of_memory`` is what it writes to standard error when it fails for lack of memory.
    Of ``compile`` only: ``cpu_time_s``, ``memory_mib``, ``processes``, ``disk_mib`` (all its files), ``output_mib``.
    """

    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    memory_limit: Literal["address-space", "data"] = "address-space"
    stack_share: float = 1.0
    handles_sigchld: bool = False
    needs_toolchain: bool = False
    extra_cpu_time_s: float = 0.0
    extra_memory_mib: int = 0
    extra_processes: int = 0
    out_of_memory: tuple[str, ...] = ()
    cpu_time_s: float = 30.0
    memory_mib: int = 1024
    processes: int = 16
    disk_mib: int = 128
    output_mib: int = 48

    @property
    def wall_time_s(self) -> float:
        """Return the wall time that compiling may take, waiting for a core left out."""
        return WALL_FACTOR * self.cpu_time_s


@dataclass(frozen=True, slots=True)
class LanguageData:
    """One file of ``languages/``."""

    source: str
    output: str
    proof: str
    marks: CodeMarks
    variants: tuple[Variant, ...]
    toolchain: ToolchainData
    compile: Step
    run: Step
    unit: str = ""
    unit_patterns: tuple[str, ...] = ()
    entry_patterns: tuple[str, ...] = ()
    package_pattern: str = ""


def read(path: Path) -> LanguageData:
    """Read one file. Raises ValueError with the file's name where a key is unknown or missing."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        return LanguageData(
            marks=CodeMarks(**_frozen(data.pop("marks"))),
            variants=tuple(Variant(**_frozen(one)) for one in data.pop("variants")),
            toolchain=ToolchainData(**_frozen(data.pop("toolchain"))),
            compile=Step(**{"stack_share": COMPILING_STACK_SHARE} | _frozen(data.pop("compile"))),
            run=Step(**_frozen(data.pop("run"))),
            **_frozen(data),
        )
    except (TypeError, KeyError) as error:
        raise ValueError(f"{path.name}: {error}") from error


def read_all() -> list[LanguageData]:
    """Read all files, in the order of their names."""
    return [read(path) for path in sorted(FOLDER.glob("*.toml"))]


def _frozen(table: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
