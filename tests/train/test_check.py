"""``microcoder train --check`` says beforehand what is wrong, on machines without torch as well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli import main
from tests.trainer_client.live import serving
from trainer_client.train.cli import train

ROOT = Path(__file__).parents[2]
CPU = ROOT / "trainer_client" / "examples" / "train" / "cpu.yaml"
# Libraries of the trainer announce their own changes.
pytestmark = pytest.mark.filterwarnings(
    "ignore::FutureWarning", "ignore::DeprecationWarning", "ignore::UserWarning"
)


def check(*flags: str, config: Path = CPU) -> tuple[int, str]:
    result = CliRunner().invoke(train, [str(config), "--check", *flags])
    return result.exit_code, result.output


def test_a_fit_configuration_is_told_in_its_parts() -> None:
    with serving() as (_, url):
        code, text = check("--url", url)
    assert code == 0, text
    assert "algorithm microcoder: clip 0.2/0.28, KL 0.0, truncation mask 0.3" in text
    assert "problems: 15 to train on, 3 held out" in text
    assert "1 of 1 ready" in text
    assert text.endswith("fit to be trained\n")


@pytest.mark.parametrize(
    ("old", "new", "flags", "told"),
    [
        pytest.param("", "", ["--url", "http://127.0.0.1:9"], "no service is ready", id="no service"),
        pytest.param(
            "", "", ["--offline", "--processes", "7"], "update.completions_per_device", id="processes"
        ),
        pytest.param(
            "heldout: expressions_heldout", "heldout: expressions", ["--offline"], "is also in", id="leak"
        ),
        pytest.param("prompts: 15", "prompts: 30", ["--offline"], "fewer than the 30", id="too few problems"),
        pytest.param("cpu: true", "cpu: maybe", ["--offline"], "run.cpu: ", id="type"),
    ],
)
def test_what_must_be_changed_is_told(
    tmp_path: Path, old: str, new: str, flags: list[str], told: str
) -> None:
    for path in CPU.parent.glob("*.jsonl"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    config = tmp_path / "cpu.yaml"
    config.write_text(CPU.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    code, text = check(*flags, config=config)
    assert code == 2
    assert told in text


def test_it_is_a_command_of_microcoder() -> None:
    result = CliRunner().invoke(main, ["train", str(CPU), "--check", "--offline"])
    assert result.exit_code == 0, result.output
    assert "train" in CliRunner().invoke(main, ["--help"]).output


@pytest.mark.parametrize(
    ("missing", "command", "extra"),
    [("yaml", ["train", "--help"], "train"), ("structlog", ["serve", "--help"], "service")],
)
def test_a_missing_package_is_told_with_the_extra_that_brings_it(
    missing: str, command: list[str], extra: str
) -> None:
    """In a process of its own, in which the package cannot be imported."""
    code = f"import sys; sys.modules[{missing!r}] = None; from service.cli import main; main({command!r})"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 1
    assert f"needs the package {missing}, which is not installed" in result.stderr
    assert f"pip install 'microcoder-evaluator[{extra}]'" in result.stderr


def test_checking_needs_no_torch() -> None:
    code = (
        "import sys; sys.modules['torch'] = sys.modules['trl'] = sys.modules['transformers'] = None\n"
        "from trainer_client.train.cli import train\n"
        f"train([{str(CPU)!r}, '--check', '--offline'])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "TRL: not checked" in result.stdout
