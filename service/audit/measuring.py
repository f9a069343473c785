"""From items and what was observed of them to one profile's figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from comparators import PROFILES
from service.audit.report import Group, Matrix, McNemar, ProfileReport, Rate, Step
from service.audit.statistics import cohen_kappa, mcnemar, wilson
from service.wire import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from service.audit.items import Item
    from service.audit.observing import Observation, View

NO_STEP = "none"
OUTSIDE_CHAIN = ("checker", "assert")


@dataclass(frozen=True, slots=True)
class Scored:
    """An item that was judged, by its first repetition."""

    item: Item
    observation: Observation

    def view(self, profile: str) -> View:
        """Return one profile's opinion."""
        return self.observation.views[profile]

    def accepted(self, profile: str) -> bool:
        """Whether ``profile`` accepts."""
        return self.view(profile).verdict is Verdict.AC

    def right(self, profile: str) -> bool:
        """Whether ``profile`` accepts what is right and refuses what is wrong."""
        return self.accepted(profile) is self.item.truth.accept


def rate(count: int, total: int) -> Rate:
    """Return a proportion with its interval."""
    low, high = wilson(count, total)
    return Rate(count=count, total=total, rate=count / total if total else None, low=low, high=high)


def measured(profile: str, scored: Sequence[Scored], baseline: str | None) -> ProfileReport:
    """Return how right ``profile`` is, and how it compares with ``baseline``."""
    matrix = _matrix(profile, scored)
    right = matrix.true_accepts + matrix.true_rejects
    exact = sum(one.view(profile).verdict in one.item.truth.verdicts for one in scored)
    accepts = matrix.true_accepts + matrix.false_accepts
    return ProfileReport(
        name=profile,
        matrix=matrix,
        false_reject_rate=rate(matrix.false_rejects, matrix.true_accepts + matrix.false_rejects),
        false_accept_rate=rate(matrix.false_accepts, matrix.true_rejects + matrix.false_accepts),
        agreement=rate(right, len(scored)),
        verdict_agreement=rate(exact, len(scored)),
        kappa=cohen_kappa(
            matrix.true_accepts, matrix.false_rejects, matrix.false_accepts, matrix.true_rejects
        ),
        mcnemar=None if baseline in (None, profile) else _mcnemar(profile, baseline, scored),
        mean_reward=accepts / len(scored) if scored else None,
        steps=list(_steps(profile, scored)),
        groups=list(_groups(profile, scored)),
    )


def _matrix(profile: str, scored: Iterable[Scored]) -> Matrix:
    counts = Counter((one.item.truth.accept, one.accepted(profile)) for one in scored)
    return Matrix(
        true_accepts=counts[True, True],
        false_rejects=counts[True, False],
        false_accepts=counts[False, True],
        true_rejects=counts[False, False],
    )


def _mcnemar(profile: str, baseline: str, scored: Iterable[Scored]) -> McNemar:
    counts = Counter((one.right(profile), one.right(baseline)) for one in scored)
    ours, theirs = counts[True, False], counts[False, True]
    return McNemar(
        baseline=baseline, only_this_right=ours, only_baseline_right=theirs, p_value=mcnemar(ours, theirs)
    )


def _steps(profile: str, scored: Sequence[Scored]) -> Iterator[Step]:
    tests: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for one in scored:
        tests.update(one.observation.tests_by_step.get(profile, {}))
        view = one.view(profile)
        step = NO_STEP
        if view.verdict is Verdict.AC:
            step = view.step or "assert"
        decided[step] += 1
        wrong[step] += not one.right(profile)
    for name in (*PROFILES[profile].steps, *OUTSIDE_CHAIN, NO_STEP):
        if name not in OUTSIDE_CHAIN or decided[name] or tests[name]:
            yield Step(name=name, tests=tests[name], submissions=decided[name], wrong=wrong[name])


def _groups(profile: str, scored: Sequence[Scored]) -> Iterator[Group]:
    parts: dict[tuple[str, str], list[Scored]] = defaultdict(list)
    for one in scored:
        parts["source", one.item.source].append(one)
        parts["mode", one.item.problem.mode].append(one)
        parts["truth", one.item.truth.word].append(one)
    for by in ("source", "mode", "truth"):
        for (kind, name), members in sorted(parts.items()):
            if kind == by:
                yield Group(by=by, name=name, matrix=_matrix(profile, members))
