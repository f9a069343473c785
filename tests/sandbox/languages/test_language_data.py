"""Languages as data: every file is whole, mistakes in one are told, names are found in the source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox import languages
from sandbox.settings import SandboxSettings
from sandbox.toolchains.discovery import find
from sandbox.toolchains.languages import FOLDER, LanguageData, read, read_all
from sandbox.toolchains.naming import names
from service.deadline import COMPILING_S
from service.settings import default_python

ALL = {path.stem: read(path) for path in FOLDER.glob("*.toml")}
KNOWN_WORDS = {"source", "output", "program", "unit", "entry", "memory_mib", "stack_kib", "home", "options"}


def test_names_and_aliases_are_each_others_only_once() -> None:
    every = [name for data in read_all() for one in data.variants for name in (one.name, *one.aliases)]
    assert len(every) == len(set(every))
    assert {"c", "cpp", "cpp17", "cpp20", "go", "java", "javascript", "rust"} <= set(every)
    assert "python" not in every


@pytest.mark.parametrize("data", ALL.values(), ids=ALL.keys())
def test_a_languages_file_is_whole(data: LanguageData) -> None:
    words = [*data.compile.command, *data.run.command, data.source, *data.compile.environment.values()]
    used = {name for word in words for name in re.findall(r"\{(\w+)\}", word)}
    assert used <= KNOWN_WORDS
    assert data.compile.command[0] in data.toolchain.commands
    assert data.run.command[0] in {"{program}", *data.toolchain.commands}
    assert data.marks.fence_tags
    assert data.marks.beginning is not None
    re.compile(data.marks.beginning)
    assert 0 < data.compile.wall_time_s < COMPILING_S
    assert 0 < data.run.stack_share <= 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("[run]", "[run]\nmemory_limits = 3"), "memory_limits"),
        (("[toolchain]", "[tools]"), "toolchain"),
        (('name = "c"', 'nam = "c"'), "nam"),
    ],
)
def test_a_mistake_in_a_file_is_told(tmp_path: Path, change: tuple[str, str], told: str) -> None:
    path = tmp_path / "c.toml"
    path.write_text((FOLDER / "c.toml").read_text().replace(*change))
    with pytest.raises(ValueError, match=f"c.toml: .*{told}"):
        read(path)


def test_a_language_without_its_toolchain_is_not_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor one whose compiler does not run, or is too old."""
    monkeypatch.setenv("PATH", str(tmp_path))
    python = default_python()
    assert [one.name for one in languages(SandboxSettings(python=python))] == ["python"]
    for said, listed in (("exit 1", False), ("echo 4.8.5", False), ("echo 13.2.0", True)):
        for name in ("gcc", "as", "ld"):
            tool = tmp_path / name
            tool.unlink(missing_ok=True)
            tool.write_text(f"#!/bin/sh\n{said}\n")
            tool.chmod(0o755)
        monkeypatch.setattr("sandbox.toolchains.discovery.HIDDEN", ())  # where this test's folder lies
        assert (find(ALL["c"]) is not None) is listed


def test_no_other_language_is_listed_without_a_jail() -> None:
    known = languages(SandboxSettings(kind="unsafe-process", python=default_python()))
    assert [one.name for one in known] == ["python"]


@pytest.mark.parametrize(
    ("source", "unit", "entry"),
    [
        ("public class Main { public static void main(String[] a) {} }", "Main", "Main"),
        ("public final class Task { public static void main(String[] a) {} }", "Task", "Task"),
        ("class A {}\nclass B { public static void main(String... a) {} }", "B", "B"),
        ("class A { int main; }\nclass B { public static void main(String... a) {} }", "B", "B"),
        ("public class A {}\nclass B { public static void main(String[] a) {} }", "A", "B"),
        ("package x.y;\npublic class A { public static void main(String[] a) {} }", "A", "x.y.A"),
        (
            "// public class No\n/* public class No */ class Yes { public static void main(String[] a) {} }",
            "Yes",
            "Yes",
        ),
        ('class A { String s = "public class No"; public static void main(String[] a) {} }', "A", "A"),
        ("no class at all", "Main", "Main"),
        ("public record P(int x) { public static void main(String[] a) {} }", "P", "P"),
    ],
)
def test_a_java_file_is_named_as_its_text_demands(source: str, unit: str, entry: str) -> None:
    found = names(ALL["java"], source)
    assert (found.unit, found.entry) == (unit, entry)
