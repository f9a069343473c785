"""Settings of the service: the only reader of the environment in this project.

Every setting is a field, an environment variable ``MICROCODER_<FIELD>`` and, but for the API keys, a flag of
``microcoder serve``. API keys have no flag because command lines are visible to every user of a machine.
Where ``MICROCODER_SECRETS_DIR`` names folders (separated by ``:``), a file ``microcoder_<field>`` in one of them is
read too, as secrets are mounted into containers; the environment wins over it, a later folder over an earlier one.
"""

from __future__ import annotations

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SecretsSettingsSource,
    SettingsConfigDict,
)

from sandbox.settings import DOCKER_IMAGE
from service.keys.ring import ApiKey, KeyFile, KeyLimits, KeyRing
from service.limits import Defaults
from service.wire import (
    DEFAULT_CPU_TIME_S,
    DEFAULT_MEMORY_BYTES,
    DEFAULT_OUTPUT_BYTES,
    DEFAULT_PROCESSES,
    MIN_MEMORY_BYTES,
    Isolation,
    Limits,
)

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["json", "console"]
SandboxKind = Literal["nsjail", "nsjail-cold", "docker", "unsafe-process"]

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
KeyText = Annotated[SecretStr, Field(min_length=1)]


def default_python() -> str:
    """Return the interpreter that runs programs: an environment of its own where one is installed."""
    programs = Path(sys.prefix) / "programs" / "bin" / "python"
    return str(programs) if programs.is_file() else sys.executable


def default_workers() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


class Settings(BaseSettings):
    """How one service runs. Frozen: a change is a restart."""

    model_config = SettingsConfigDict(
        env_prefix="MICROCODER_", extra="forbid", frozen=True, validate_default=True
    )

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    api_keys: Annotated[tuple[KeyText, ...], NoDecode] = Field(
        (),
        description="Accepted API keys, or NAME=sha256:DIGEST of keys, comma separated; unset leaves the service open.",
    )
    api_keys_file: Path | None = Field(
        None, description="JSON file of accepted API keys by digest, each with limits of its own."
    )
    key_requests_per_s: Seconds | None = Field(
        None, description="Requests a second for each key of MICROCODER_API_KEYS; unset, no limit."
    )
    key_concurrent_requests: int | None = Field(
        None, ge=1, description="Requests at a time for each key of MICROCODER_API_KEYS; unset, no limit."
    )
    open_access: bool = Field(
        False, description="Whether to listen beyond this machine without API keys; true or false."
    )

    queue: str | None = Field(
        None,
        pattern=r"^(rediss?|unix)://",
        description="URL of the Redis through which workers elsewhere judge; unset, this process has its own.",
    )
    sandbox: SandboxKind = Field(
        "nsjail",
        description="How programs are held: nsjail forks them from a warm jail, nsjail-cold starts a jail for each; "
        "unsafe-process is no isolation, for trusted programs only.",
    )
    docker_image: str = Field(
        DOCKER_IMAGE, min_length=1, description="Image in which sandbox docker runs programs."
    )
    python: str = Field(
        default_factory=default_python, min_length=1, description="Interpreter that runs programs."
    )
    workers: int = Field(
        default_factory=default_workers,
        ge=1,
        le=1024,
        description="Worker processes, one submission at a time each.",
    )

    backlog_submissions: int = Field(10_000, ge=1, description="Held submissions at which calls get 429.")
    backlog_bytes: int = Field(1 << 30, ge=1, description="Held bytes at which calls get 429.")
    max_body_bytes: int = Field(
        256 << 20, ge=1, le=2 << 30, description="Largest request body after decompression."
    )
    body_idle_s: Seconds = Field(30.0, description="Longest pause of a body that is being received.")
    max_wait_s: Seconds = Field(600.0, description="Longest wait for a worker; then the answer is IE.")
    result_ttl_s: Seconds = Field(
        3600.0, description="How long jobs' judgements and idempotent answers are kept."
    )
    result_bytes: int = Field(
        256 << 20, ge=1, description="Held bytes of such judgements at which the oldest go (own queue only)."
    )
    cache_ttl_s: float = Field(
        3600.0,
        ge=0,
        allow_inf_nan=False,
        description="How long a judgement answers for equal submissions; 0 judges every one of them.",
    )
    cache_bytes: int = Field(
        64 << 20, ge=1, description="Held bytes of such judgements at which the oldest go (own queue only)."
    )
    problem_ttl_s: Seconds = Field(
        86400.0, description="How long a stored problem is kept after its last use."
    )
    problem_bytes: int = Field(
        1 << 30, ge=1, description="Held bytes of stored problems at which the unused go (own queue only)."
    )
    drain_s: Seconds = Field(30.0, description="Time to finish admitted submissions after SIGTERM.")

    audit_dir: Path | None = Field(
        None,
        description="Folder where audits are kept; unset, they are in the queue's Redis, or go when the service ends.",
    )
    audit_reports: int = Field(100, ge=1, description="Audits that are kept; the oldest go.")
    audit_bytes: int = Field(256 << 20, ge=1, description="Held bytes of audits at which the oldest go.")
    audit_ttl_s: Seconds = Field(2592000.0, description="How long an audit is kept after its end.")

    isolation: Isolation = Field("reuse", description="Isolation of submissions that ask for none.")
    failing_first: bool = Field(
        True,
        description="Try tests first at which a problem's submissions failed most, where the first failure ends it.",
    )
    default_cpu_time_s: Seconds = Field(DEFAULT_CPU_TIME_S, description="CPU time of a test that names none.")
    default_wall_time_s: Seconds | None = Field(
        None,
        description="Wall time of a test that names none; unset, twice its CPU time and 2 s, at most the maximum.",
    )
    default_memory_bytes: int = Field(
        DEFAULT_MEMORY_BYTES, ge=MIN_MEMORY_BYTES, description="Memory of a test that names none."
    )
    default_output_bytes: int = Field(
        DEFAULT_OUTPUT_BYTES, ge=1, description="Output of a test that names none."
    )
    default_processes: int = Field(
        DEFAULT_PROCESSES, ge=1, description="Processes of a test that names none."
    )
    max_cpu_time_s: Seconds = Field(60.0, description="Most CPU time that a test may ask for.")
    max_wall_time_s: Seconds = Field(180.0, description="Most wall time that a test may ask for.")
    max_memory_bytes: int = Field(
        4 << 30, ge=MIN_MEMORY_BYTES, description="Most memory that a test may ask for."
    )
    max_output_bytes: int = Field(256 << 20, ge=1, description="Most output that a test may ask for.")
    max_processes: int = Field(256, ge=1, description="Most processes that a test may ask for.")

    log_level: LogLevel = Field("info", description="Least severe level that is logged.")
    log_format: LogFormat = Field("json", description="One JSON object a line, or text for people.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return where settings come from, the strongest first."""
        del dotenv_settings, file_secret_settings
        named = os.environ.get("MICROCODER_SECRETS_DIR", "").split(os.pathsep)
        folders = [Path(folder) for folder in named if folder and Path(folder).is_dir()]
        return init_settings, env_settings, SecretsSettingsSource(settings_cls, folders)

    @field_validator("api_keys", mode="before")
    @classmethod
    def _split_keys(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        keys = tuple(key.strip() for key in value.split(",") if key.strip())
        if not keys:
            # Whoever sets it wants the service closed; an empty value is a secret that was not filled in.
            raise ValueError("holds no key; unset it to leave the service open")
        if value.encode("utf-8", "replace").decode() != value:
            raise ValueError("is not UTF-8")
        return keys

    @model_validator(mode="after")
    def _limits_agree(self) -> Self:
        for name in Limits.model_fields:
            default, maximum = getattr(self, f"default_{name}"), getattr(self, f"max_{name}")
            if default is not None and default > maximum:
                raise ValueError(f"default_{name} ({default}) is over max_{name} ({maximum})")
        cpu_time_s, wall_time_s = self.default_cpu_time_s, self.default_wall_time_s
        if wall_time_s is not None and wall_time_s < cpu_time_s:
            raise ValueError(
                f"default_wall_time_s ({wall_time_s}) is below default_cpu_time_s ({cpu_time_s}), "
                "which no test could then reach"
            )
        return self

    @cached_property
    def key_ring(self) -> KeyRing:
        """The keys that are accepted; none leaves the service open."""
        limits = KeyLimits(
            requests_per_s=self.key_requests_per_s, concurrent_requests=self.key_concurrent_requests
        )
        return KeyRing.of([key.get_secret_value() for key in self.api_keys], self._listed_keys(), limits)

    @model_validator(mode="after")
    def _keys_are_readable(self) -> Self:
        self._listed_keys()
        return self

    def _listed_keys(self) -> list[ApiKey]:
        if self.api_keys_file is None:
            return []
        try:
            return KeyFile.model_validate_json(self.api_keys_file.read_bytes()).keys
        except (OSError, ValidationError) as error:
            raise ValueError(f"api_keys_file cannot be read: {error}") from None

    @property
    def defaults(self) -> Defaults:
        """Limits of a test that names none; a wall time of None follows the CPU time, up to the maximum."""
        return Defaults(**self._limits("default"), max_wall_time_s=self.max_wall_time_s)

    @property
    def maxima(self) -> Limits:
        """The most that a test may ask for."""
        return Limits(**self._limits("max"))

    def _limits(self, prefix: str) -> dict[str, Any]:
        return {name: getattr(self, f"{prefix}_{name}") for name in Limits.model_fields}
