"""The image: no root, no build tools, installed by hash, one version everywhere, buildable by engines of 20.10."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import yaml

from sandbox.docker.container import PYTHON
from sandbox.docker.container import ROOT as HARNESS_ROOT
from sandbox.settings import DOCKER_IMAGE

ROOT = Path(__file__).parents[2]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
STAGES = dict(re.findall(r"^FROM \S+ AS (\w+)\n(.*?)(?=^FROM |\Z)", DOCKERFILE, re.MULTILINE | re.DOTALL))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_an_old_engine_understands_it() -> None:
    assert not DOCKERFILE.startswith("# syntax")
    assert "<<" not in DOCKERFILE
    assert "--start-interval" not in DOCKERFILE


def test_what_runs_is_not_root_and_tells_its_health() -> None:
    for stage in ("programs", "service"):
        assert "USER 1000:1000" in STAGES[stage]
    assert "HEALTHCHECK" in STAGES["service"]
    assert list(STAGES)[-1] == "service"


def test_every_package_is_installed_by_hash() -> None:
    for command in re.findall(r"pip --python \S+ install ([^\n\\]*)", DOCKERFILE):
        assert "--require-hashes" in command or {"--no-deps", "--no-index"} <= set(command.split())


def test_what_only_builds_stays_behind() -> None:
    for stage in ("shown", "programs", "service"):
        assert "/build" not in STAGES[stage]
    assert "pip uninstall" in STAGES["base"]


def test_the_build_tool_is_the_one_that_the_project_names() -> None:
    wanted = (ROOT / "requirements" / "build.in").read_text().split()
    assert wanted == PROJECT["build-system"]["requires"]


def test_versions_agree() -> None:
    version = PROJECT["project"]["version"]
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    kustomization = yaml.safe_load(
        (ROOT / "deploy" / "kubernetes" / "base" / "kustomization.yaml").read_text()
    )
    assert f"microcoder-programs:{version}" == DOCKER_IMAGE
    assert compose["services"]["api"]["image"] == f"${{MICROCODER_IMAGE:-microcoder-evaluator:{version}}}"
    assert kustomization["images"] == [{"name": "microcoder-evaluator", "newTag": version}]
    assert f"ARG VERSION={version}" in DOCKERFILE
    makefile = (ROOT / "Makefile").read_text()
    assert set(re.findall(r"microcoder-\w+:(\d\S+)", makefile)) == {version}


def test_containers_of_programs_find_what_they_start() -> None:
    assert f"/shown{PYTHON.removesuffix('/bin/python')}" in STAGES["shown"]
    assert f"/shown{HARNESS_ROOT.removesuffix('/sandbox')}" in STAGES["shown"]


def test_only_what_the_image_is_made_of_goes_to_the_builder() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    assert lines[1] == "*"
    kept = [line.removeprefix("!") for line in lines if line.startswith("!")]
    for path in re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.MULTILINE):
        for source in path.split():
            assert any(Path(source).match(pattern) or source.startswith(f"{pattern}/") or source == pattern
                       for pattern in kept), source  # fmt: skip
