"""Warnings: each comes where its insight says so, once, and not in a healthy run."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import pytest

from trainer_client.grpo.health import LEAST_OBSERVATIONS
from trainer_client.grpo.health_checks import CHECKS
from trainer_client.grpo.insights import Insight
from trainer_client.grpo.monitor import HealthMonitor, HealthThresholds, HealthWarning, StepFigures

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 300
WINDOW = HealthThresholds().window


def healthy(step: int) -> dict[str, Any]:
    """Return figures like those of the published run at T=1.2, with a measurement of accuracy every 20 steps."""
    return {
        "diversity": 0.70 + 0.03 * math.sin(step / 7),
        "masked_share": 0.03,
        "truncated_share": 0.12,
        "mean_length": 2000 + 10 * step,
        "zero_std_share": 0.3,
        "reward": 0.40 + 0.0005 * step,
        "accuracy": 0.36 + 0.0003 * step if step % 20 == 0 else None,
        "temperature": 1.2,
        "kl_weight": 0.0,
        "clip_low": 0.2,
        "clip_high": 0.28,
    }


def observe(
    figures: Callable[[int], dict[str, Any]], monitor: HealthMonitor | None = None
) -> list[HealthWarning]:
    monitor = monitor or HealthMonitor()
    return [
        warning
        for step in range(STEPS)
        for warning in monitor.observe(StepFigures(step=step, **figures(step)))
    ]


def with_(**changes: Callable[[int], Any]) -> Callable[[int], dict[str, Any]]:
    return lambda step: {**healthy(step), **{name: change(step) for name, change in changes.items()}}


def test_a_healthy_run_is_warned_of_nothing() -> None:
    assert observe(healthy) == []


def test_the_published_jump_is_warned_of_nothing() -> None:
    """0.6 for 140 steps at a level diversity, then 1.2: diversity jumps, and is meant to."""
    jump = with_(
        temperature=lambda step: 0.6 if step < 140 else 1.2,
        diversity=lambda step: 0.62 if step < 140 else 0.85 if step < 150 else 0.7,
    )
    assert observe(jump) == []


ILLNESSES = [
    pytest.param(
        with_(diversity=lambda step: 0.58 - 0.002 * step if step < 200 else 0.18),
        "diversity_collapse", Insight.START_BELOW_LEVEL, range(WINDOW - 1, WINDOW), id="falls below the level",
    ),
    pytest.param(
        with_(diversity=lambda step: max(0.6, 0.97 - 0.02 * step)),
        "diversity_swing", Insight.BY_DIVERSITY, range(11, 12), id="swings",
    ),
    pytest.param(
        with_(temperature=lambda _: 0.6),
        "low_temperature", Insight.LOW_TEMPERATURE, range(140, 141), id="stays cold",
    ),
    pytest.param(
        with_(masked_share=lambda _: 0.11),
        "mask_share", Insight.MASK_SHARE, range(WINDOW - 1, WINDOW), id="masks nearly all",
    ),
    pytest.param(
        with_(truncated_share=lambda step: 0.1 if step < 100 else 0.7),
        "truncated_share", Insight.LONG_CONTEXT, range(101, 140), id="cut off later",
    ),
    pytest.param(
        with_(truncated_share=lambda step: 0.4 if step < 60 else 0.1),
        "small_first_maximum", Insight.SMALL_FIRST_MAXIMUM, range(3, 4), id="cut off from the start",
    ),
    pytest.param(
        with_(mean_length=lambda step: 2000 if step < 100 else 1000),
        "length_fall", Insight.LENGTH_GROWTH, range(101, 120), id="gets shorter",
    ),
    pytest.param(
        with_(zero_std_share=lambda _: 0.8),
        "zero_std_share", Insight.HARD_DATA, range(WINDOW - 1, WINDOW), id="groups of equal rewards",
    ),
    pytest.param(
        with_(accuracy=lambda step: 0.36 - 0.0003 * step if step % 20 == 0 else None),
        "hidden_stall", Insight.HIDDEN_STALL, range(60, 61), id="reward without generalisation",
    ),
    pytest.param(
        with_(kl_weight=lambda _: 0.04), "kl", Insight.KL, range(1), id="KL",
    ),
    pytest.param(
        with_(kl_weight=lambda _: 0.04, clip_high=lambda _: 0.2),
        "kl", Insight.KL_WITH_SYMMETRIC_CLIP, range(1), id="KL with a symmetric clip",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("figures", "kind", "insight", "steps"), ILLNESSES)
def test_each_illness_is_warned_of_once_by_its_insight(
    figures: Callable[[int], dict[str, Any]], kind: str, insight: Insight, steps: range
) -> None:
    warnings = observe(figures)
    assert [(one.kind, one.insight) for one in warnings] == [(kind, insight)]
    assert warnings[0].step in steps
    assert str(insight) in str(warnings[0])
    assert f"step {warnings[0].step}: " in str(warnings[0])


def test_every_check_has_an_illness_here() -> None:
    assert {case.values[1] for case in ILLNESSES} == set(CHECKS)


def test_a_warning_comes_again_only_after_it_was_gone() -> None:
    sick = [*range(10, 20), *range(40, 50)]
    warnings = observe(with_(kl_weight=lambda step: 0.1 if step in sick else 0.0))
    assert [one.step for one in warnings] == [10, 40]


def test_a_low_diversity_that_holds_and_a_high_one_that_falls_are_both_well() -> None:
    assert observe(with_(diversity=lambda _: 0.5)) == []
    assert observe(with_(diversity=lambda step: 0.9 - 0.0005 * step)) == []


def test_what_was_not_measured_is_not_judged() -> None:
    assert observe(lambda _: {}) == []


def test_thresholds_are_settings() -> None:
    figures = with_(diversity=lambda step: 0.58 - 0.001 * step)
    assert observe(figures, HealthMonitor(HealthThresholds(diversity_level=0.1))) == []
    early = observe(figures, HealthMonitor(HealthThresholds(window=4, diversity_fall=0.001)))
    assert early[0].step == 3


def test_a_window_of_three_has_no_halves() -> None:
    with pytest.raises(ValueError, match=f"window must be at least {LEAST_OBSERVATIONS}"):
        HealthThresholds(window=3)


@pytest.mark.parametrize("figures", [pytest.param(case.values[0], id=case.id) for case in ILLNESSES])
@pytest.mark.parametrize("stop", [1, 15, 130, 250])
def test_a_resumed_run_warns_as_an_uninterrupted_one(
    figures: Callable[[int], dict[str, Any]], stop: int
) -> None:
    """The state goes through JSON, as in a checkpoint."""
    monitor = HealthMonitor()
    found = []
    for step in range(STEPS):
        if step == stop:
            state = json.loads(json.dumps(monitor.state_dict()))
            monitor = HealthMonitor()
            monitor.load_state_dict(state)
        found += monitor.observe(StepFigures(step=step, **figures(step)))
    assert found == observe(figures)
