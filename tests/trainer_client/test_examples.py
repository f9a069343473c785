"""Every example that needs no trainer runs as written, with the address of the test's service in place of its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "trainer_client" / "examples"
ADDRESS = "http://127.0.0.1:8000"
SAID = {
    "client": ["[1.0, 0.0]", "WA test 0"],
    "verl_reward": ["'score': 1.0", "'score': 0.0"],
    "openrlhf_reward": ["'rewards': 1.0", "'rewards': 0.0"],
    "slime_reward": ["[1.0, 0.0]"],
    "ms_swift_plugin": ["[1.0, 0.0]"],
}
# They subclass what their trainer brings; tests/trainers runs TRL's.
OF_TRAINERS = {"trl_grpo", "verl_manager", "verifiers_task", "nemo_gym_server"}


@pytest.mark.parametrize("name", SAID)
def test_an_example_runs_as_written(name: str, url: str, tmp_path: Path) -> None:
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    assert ADDRESS in source
    program = tmp_path / f"{name}.py"
    program.write_text(source.replace(ADDRESS, url), encoding="utf-8")
    result = subprocess.run(
        [sys.executable, program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 0, result.stderr
    for said in SAID[name]:
        assert said in result.stdout


def test_no_example_is_left_out() -> None:
    found = {path.stem for path in EXAMPLES.glob("*.py")} - {"__init__", "sums"}
    assert found == set(SAID) | OF_TRAINERS


@pytest.mark.parametrize("name", sorted(OF_TRAINERS))
def test_the_others_import_of_ours_what_there_is(name: str) -> None:
    tree = ast.parse((EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [node for node in imports if (node.module or "").startswith("trainer_client")]
    assert ours
    for node in ours:
        if node.module == "trainer_client.adapters.verl_manager":
            continue
        code = f"from {node.module} import {', '.join(alias.name for alias in node.names)}"
        subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_the_readme_shows_the_lines_of_the_example() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    example = (EXAMPLES / "trl_grpo.py").read_text(encoding="utf-8")
    for line in (
        "from trainer_client.adapters.trl import EvaluatorReward",
        f'reward = EvaluatorReward("{ADDRESS}")',
        "reward_funcs=reward,",
    ):
        assert line in readme
        assert line in example
