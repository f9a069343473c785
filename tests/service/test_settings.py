"""Settings: flags over environment over defaults, bad values refused."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from service.cli.flags import NO_FLAG, load_settings
from service.cli.serve import serve
from service.limits import Defaults, effective
from service.settings import Settings, default_python
from service.wire import Limits

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(f"MICROCODER_{name.upper()}", raising=False)


def test_defaults_are_those_of_the_contract() -> None:
    settings = Settings()
    assert (settings.host, settings.port, settings.sandbox) == ("127.0.0.1", 8000, "nsjail")
    assert settings.maxima == Limits(
        cpu_time_s=60, wall_time_s=180, memory_bytes=4 << 30, output_bytes=256 << 20, processes=256
    )
    assert settings.defaults == Defaults(
        cpu_time_s=6, memory_bytes=1 << 30, output_bytes=16 << 20, processes=32, max_wall_time_s=180
    )
    assert settings.max_body_bytes == 256 << 20
    assert settings.workers >= 1


def test_flags_go_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROCODER_PORT", "9000")
    monkeypatch.setenv("MICROCODER_WORKERS", "7")
    settings = load_settings({"port": "9001"})
    assert (settings.port, settings.workers) == (9001, 7)


def test_every_setting_has_a_flag_but_for_the_keys() -> None:
    flags = {parameter.name for parameter in serve.params}
    assert flags == set(Settings.model_fields) - NO_FLAG
    text = CliRunner().invoke(serve, ["--help"]).output
    assert "--max-cpu-time-s" in text
    assert "MICROCODER_MAX_CPU_TIME_S" in text


def test_keys_are_split_and_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROCODER_API_KEYS", "one, two,")
    settings = Settings()
    assert [key.get_secret_value() for key in settings.api_keys] == ["one", "two"]
    assert "two" not in repr(settings)


@pytest.mark.parametrize("value", ["", " , ", "\udcff"])
def test_a_value_without_a_usable_key_does_not_leave_the_service_open(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MICROCODER_API_KEYS", value)
    with pytest.raises(click.UsageError, match="MICROCODER_API_KEYS"):
        load_settings({})


def test_a_wall_time_that_nobody_names_keeps_to_the_maximum() -> None:
    def wall_time_s(flags: dict[str, str], **limits: float) -> float:
        return effective(load_settings(flags).defaults, Limits.model_validate(limits)).wall_time_s

    low = {"max_wall_time_s": "3"}
    assert wall_time_s(low) == 3
    assert wall_time_s(low, cpu_time_s=0.2) == 2.4
    assert wall_time_s(low, cpu_time_s=0.2, wall_time_s=2.9) == 2.9
    assert wall_time_s({}) == 14


def test_a_wall_time_below_the_cpu_time_is_refused_naming_both() -> None:
    with pytest.raises(click.UsageError, match=r"default_wall_time_s \(5.0\).*default_cpu_time_s \(6.0\)"):
        load_settings({"default_wall_time_s": "5"})
    assert load_settings({"default_wall_time_s": "6"}).defaults.wall_time_s == 6


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError):
        Settings().port = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("port", "65536"),
        ("workers", "0"),
        ("drain_s", "nan"),
        ("log_level", "loud"),
        ("isolation", "none"),
        ("default_memory_bytes", "1"),
        ("max_wall_time_s", "inf"),
    ],
)
def test_a_bad_value_is_refused_by_name(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    named = f"MICROCODER_{name.upper()}"
    with pytest.raises(click.UsageError, match=named):
        load_settings({name: value})
    monkeypatch.setenv(named, value)
    with pytest.raises(click.UsageError, match=named):
        load_settings({})


def test_a_default_over_its_maximum_is_refused() -> None:
    with pytest.raises(click.UsageError, match=r"default_processes \(300\) is over max_processes \(256\)"):
        load_settings({"default_processes": "300"})


def test_programs_run_in_an_environment_of_their_own_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    assert default_python() == sys.executable
    python = tmp_path / "programs" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert default_python() == str(python)


def test_secrets_are_read_from_files_and_the_environment_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder, port in ((one, "9001"), (other, "9002")):
        folder.mkdir()
        (folder / "microcoder_port").write_text(f"{port}\n")
    (one / "microcoder_api_keys").write_text("key-one,key-two\n")
    monkeypatch.setenv("MICROCODER_SECRETS_DIR", f"{one}:{other}:{tmp_path}/missing")
    settings = Settings()
    assert [key.get_secret_value() for key in settings.api_keys] == ["key-one", "key-two"]
    assert settings.port == 9002
    monkeypatch.setenv("MICROCODER_PORT", "9003")
    assert Settings().port == 9003
    monkeypatch.delenv("MICROCODER_SECRETS_DIR")
    assert not Settings().api_keys


def test_a_secret_file_that_holds_nothing_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "microcoder_api_keys").write_text("\n")
    monkeypatch.setenv("MICROCODER_SECRETS_DIR", str(tmp_path))
    with pytest.raises(ValueError, match="api_keys"):
        Settings()
