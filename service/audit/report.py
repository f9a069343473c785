"""The report of an audit as data: what ``GET /audit/{id}`` answers and ``--json`` writes.

``schema_version`` changes whenever a reader of the one before could misread this one.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from service.audit.items import LabelKind


class ReportModel(BaseModel):
    """Base of all parts of a report."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Rate(ReportModel):
    """A proportion with its 95 % Wilson interval; ``rate`` is null where there was nothing to count."""

    count: int
    total: int
    rate: float | None
    low: float
    high: float


class Matrix(ReportModel):
    """Truth against a profile's opinion."""

    true_accepts: int
    false_rejects: int
    false_accepts: int
    true_rejects: int


class McNemar(ReportModel):
    """A profile against the baseline on the items where exactly one of them is right."""

    baseline: str
    only_this_right: int
    only_baseline_right: int
    p_value: float


class Step(ReportModel):
    """What one step decided.

    ``tests`` it accepted; ``submissions`` that were accepted and needed no later step, of which ``wrong`` should not
    have been. The last row, ``none``, is of submissions that no step accepts: ``wrong`` ones are false rejects.
    """

    name: str
    tests: int
    submissions: int
    wrong: int


class Group(ReportModel):
    """The matrix of a part of the items: those of one source, mode or right verdict."""

    by: Literal["source", "mode", "truth"]
    name: str
    matrix: Matrix


class ProfileReport(ReportModel):
    """How right one profile is. ``verdict_agreement`` counts verdicts, not only accept and reject."""

    name: str
    matrix: Matrix
    false_reject_rate: Rate
    false_accept_rate: Rate
    agreement: Rate
    verdict_agreement: Rate
    kappa: float | None
    mcnemar: McNemar | None
    mean_reward: float | None
    steps: list[Step]
    groups: list[Group]


class ProfileView(ReportModel):
    """One profile's verdict on one item."""

    verdict: str
    right: bool
    step: str | None
    test: int | None
    feedback: str


class Disagreement(ReportModel):
    """An item on which some profile is wrong; excerpts are of the test that tells."""

    id: str
    source: str
    mode: str
    truth: str
    views: dict[str, ProfileView]
    test: int | None
    expected: str | None
    actual: str | None


class Outcome(ReportModel):
    """The verdicts on one item. ``fingerprint`` stands for program, problem and truth."""

    id: str
    fingerprint: str
    truth: str
    verdicts: dict[str, str]


class ControlExample(ReportModel):
    """A control that a profile got wrong."""

    profile: str
    problem: str
    expected: str
    actual: str


class Control(ReportModel):
    """Outputs of one kind, all right or all wrong by construction; ``accepted`` is per profile."""

    kind: str
    right: bool
    tries: int
    accepted: dict[str, Rate]
    wrong_profiles: list[str]
    examples: list[ControlExample]


class Change(ReportModel):
    """An item whose verdict under ``profile`` was not the same in every repetition."""

    id: str
    profile: str
    verdicts: list[str]
    cause: Literal["time limit", "memory limit", "failure of ours", "the program"]


class Repeatability(ReportModel):
    """What differed between repetitions."""

    repeats: int
    changed: list[Change]


class Skipped(ReportModel):
    """Something that was not measured, and why."""

    name: str
    reason: str


class Completeness(ReportModel):
    """How much of what was given was measured. ``unscored`` items ended in a failure of ours (IE)."""

    complete: bool
    given: int
    measured: int
    skipped: list[Skipped]
    unscored: list[Skipped]
    controls_left_out: dict[str, int]


class Suspect(ReportModel):
    """A problem whose tests or environment are doubtful; ``problem`` is the first item that has it."""

    problem: str
    reason: str
    cause: Literal["ground truth fails", "environment missing", "weak tests", "inexact answers"] = (
        "ground truth fails"
    )


class Environment(ReportModel):
    """What measured: two reports differ for one of these, or for the items."""

    version: str
    comparators: str
    python: str
    isolation: str
    cores: int


class Report(ReportModel):
    """The whole report."""

    schema_version: Literal[1] = 1
    created: str
    source: str
    labels: LabelKind
    headline: str
    completeness: Completeness
    environment: Environment
    baseline: str | None
    profiles: list[ProfileReport]
    truth_mean_reward: float | None
    controls: list[Control]
    repeatability: Repeatability
    suspects: list[Suspect]
    disagreements: list[Disagreement]
    outcomes: list[Outcome]
    runs: int
    comparisons: int
    wall_time_s: float
