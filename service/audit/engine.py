"""An audit from end to end: run once, compare under every profile, make controls, report."""

from __future__ import annotations

import hashlib
import os
import platform
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import resources
from typing import TYPE_CHECKING

from comparators import PROFILES
from sandbox import SandboxSettings, SandboxUnavailableError, languages
from service.audit.controls import ControlCounts, try_controls
from service.audit.doubts import unpassed, weak
from service.audit.items import Left, problem_digest
from service.audit.measuring import Scored, measured, rate
from service.audit.report import (
    Change,
    Completeness,
    Control,
    ControlExample,
    Disagreement,
    Environment,
    Outcome,
    ProfileView,
    Repeatability,
    Report,
    Skipped,
)
from service.audit.runs import observed
from service.audit.wording import headline
from service.languages import PYTHON, every_name, fault
from service.queue.offline import NoSandboxError
from service.version import package_version
from service.wire import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from service.audit.items import Item, Loaded
    from service.audit.observing import Observation
    from service.settings import Settings
    from service.wire import Problem

BASELINE = "livecodebench"
DIGEST_CHARS = 16
MAX_REASONS = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured: under which profiles, how often every program is run, and whether controls are made."""

    profiles: tuple[str, ...] = tuple(PROFILES)
    repeats: int = 1
    controls: bool = True

    @property
    def baseline(self) -> str | None:
        """The profile that others are tested against: LiveCodeBench's rules, else the first of several."""
        if len(self.profiles) == 1:
            return None
        return BASELINE if BASELINE in self.profiles else self.profiles[0]


async def audit(
    loaded: Loaded,
    settings: Settings,
    plan: Plan,
    on_progress: Callable[[int, int], None],
) -> Report:
    """Audit everything that was loaded; ``on_progress`` gets the numbers of finished and of all runs.

    Raises:
        NoSandboxError: no worker could open its sandbox.
        NotReadyError: the sandboxes of all workers were lost on the way.
        ValueError: there are no items.

    """
    started_s = time.perf_counter()
    loaded = _judgeable(loaded, settings)
    if not loaded.items:
        reasons = "; ".join(f"{one.name}: {one.reason}" for one in loaded.left[:MAX_REASONS])
        raise ValueError(f"there is nothing to audit{': ' if reasons else ''}{reasons}")
    observations, sandbox = await observed(loaded.items, settings, plan.repeats, on_progress)
    return reported(loaded, observations, sandbox, plan, started_s)


def reported(
    loaded: Loaded,
    observations: Sequence[list[Observation]],
    sandbox: Mapping[str, JsonValue],
    plan: Plan,
    started_s: float,
) -> Report:
    """Return the report on what was observed of each item, once per repetition.

    ``sandbox`` is what the workers say of theirs, ``started_s`` when the audit began, by ``time.perf_counter``.
    """
    pairs = list(zip(loaded.items, observations, strict=True))
    scored = [Scored(item, found[0]) for item, found in pairs if found[0].verdict is not Verdict.IE]
    profiles = [measured(profile, scored, plan.baseline) for profile in plan.profiles]
    counts, left_out = try_controls(_problems(loaded.items), plan.profiles) if plan.controls else ([], {})
    completeness = _completeness(loaded, pairs, left_out)
    digests = {id(item.problem): problem_digest(item.problem) for item in loaded.items}
    controls = [_control(one, plan.profiles) for one in counts if one.tries]
    return Report(
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        source=loaded.name,
        labels=loaded.labels,
        headline=headline(profiles, plan.baseline, completeness, controls, loaded.labels),
        completeness=completeness,
        environment=_environment(sandbox),
        baseline=plan.baseline,
        profiles=profiles,
        truth_mean_reward=sum(one.item.truth.accept for one in scored) / len(scored) if scored else None,
        controls=controls,
        repeatability=Repeatability(repeats=plan.repeats, changed=list(_changes(pairs, plan.profiles))),
        suspects=[*unpassed(scored, plan.profiles), *weak(_problems(loaded.items))],
        disagreements=[
            _disagreement(one, plan.profiles) for one in scored if not all(map(one.right, plan.profiles))
        ],
        outcomes=[_outcome(item, found[0], plan.profiles, digests) for item, found in pairs],
        runs=len(loaded.items) * plan.repeats,
        comparisons=sum(one.comparisons for _, found in pairs for one in found)
        + sum(one.tries for one in counts) * len(plan.profiles),
        wall_time_s=round(time.perf_counter() - started_s, 3),
    )


def _judgeable(loaded: Loaded, settings: Settings) -> Loaded:
    """Leave out, by name and reason, what is in languages that cannot be judged here."""
    if all(item.submission.language == PYTHON for item in loaded.items):
        return loaded
    try:
        known = every_name(
            languages(SandboxSettings(settings.sandbox, settings.python, docker_image=settings.docker_image))
        )
    except SandboxUnavailableError as error:
        raise NoSandboxError(str(error)) from error
    faults = [fault(item.submission.language, known, item.problem) for item in loaded.items]
    pairs = list(zip(loaded.items, faults, strict=True))
    left = [
        Left(item.id, f"language {item.submission.language}: {reason}") for item, reason in pairs if reason
    ]
    return replace(loaded, items=[item for item, reason in pairs if not reason], left=[*loaded.left, *left])


def comparators_digest() -> str:
    """Return what changes when any rule of comparison does."""
    digest = hashlib.sha256()
    files = [file for file in resources.files("comparators").iterdir() if file.name.endswith(".py")]
    for file in sorted(files, key=lambda one: one.name):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:DIGEST_CHARS]


def _environment(sandbox: Mapping[str, JsonValue]) -> Environment:
    return Environment(
        version=package_version(),
        comparators=comparators_digest(),
        python=platform.python_version(),
        isolation=str(sandbox.get("isolation", "unknown")),
        cores=len(os.sched_getaffinity(0)),
    )


def _problems(items: Iterable[Item]) -> Iterator[tuple[str, Problem]]:
    seen = set()
    for item in items:
        if id(item.problem) not in seen:
            seen.add(id(item.problem))
            yield item.id, item.problem


def _completeness(
    loaded: Loaded, pairs: Sequence[tuple[Item, list[Observation]]], left_out: Mapping[str, int]
) -> Completeness:
    unscored = [
        Skipped(name=item.id, reason=found[0].message)
        for item, found in pairs
        if found[0].verdict is Verdict.IE
    ]
    return Completeness(
        complete=not unscored and not loaded.left,
        given=len(loaded.items) + len(loaded.left),
        measured=len(pairs) - len(unscored),
        skipped=[Skipped(name=one.name, reason=one.reason) for one in loaded.left],
        unscored=unscored,
        controls_left_out=dict(left_out),
    )


def _control(counts: ControlCounts, profiles: Sequence[str]) -> Control:
    accepted = {profile: rate(counts.accepted[profile], counts.tries) for profile in profiles}
    wanted = counts.tries if counts.right else 0
    return Control(
        kind=counts.kind,
        right=counts.right,
        tries=counts.tries,
        accepted=accepted,
        wrong_profiles=[profile for profile in profiles if accepted[profile].count != wanted],
        examples=[
            ControlExample(profile=profile, problem=problem, expected=expected, actual=actual)
            for profile, problem, expected, actual in counts.examples
        ],
    )


def _changes(pairs: Iterable[tuple[Item, list[Observation]]], profiles: Sequence[str]) -> Iterator[Change]:
    for item, found in pairs:
        for profile in profiles:
            verdicts = [_verdict(one, profile) for one in found]
            if len(set(verdicts)) > 1:
                cause = next((_CAUSES[verdict] for verdict in verdicts if verdict in _CAUSES), "the program")
                yield Change(id=item.id, profile=profile, verdicts=list(verdicts), cause=cause)


_CAUSES = {
    Verdict.IE: "failure of ours",
    Verdict.TLE: "time limit",
    Verdict.MLE: "memory limit",
}


def _verdict(observation: Observation, profile: str) -> Verdict:
    view = observation.views.get(profile)
    return observation.verdict if view is None else view.verdict


def _disagreement(one: Scored, profiles: Sequence[str]) -> Disagreement:
    views = {profile: one.view(profile) for profile in profiles}
    observation = one.observation
    return Disagreement(
        id=one.item.id,
        source=one.item.source,
        mode=one.item.problem.mode,
        truth=one.item.truth.word,
        views={
            profile: ProfileView(
                verdict=view.verdict,
                right=one.right(profile),
                step=view.step,
                test=view.test,
                feedback=view.feedback,
            )
            for profile, view in views.items()
        },
        test=observation.shown_test,
        expected=observation.expected,
        actual=observation.actual,
    )


def _outcome(
    item: Item, observation: Observation, profiles: Sequence[str], digests: Mapping[int, bytes]
) -> Outcome:
    return Outcome(
        id=item.id,
        fingerprint=item.fingerprint(digests[id(item.problem)]),
        truth=item.truth.word,
        verdicts={profile: _verdict(observation, profile) for profile in profiles},
    )
