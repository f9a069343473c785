"""Whose turn it is, and when there is room: the queue's two rules without processes."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import QueueFullError
from service.queue.backlog import Backlog
from service.queue.schedule import LEVELS, FairSchedule
from service.queue.worker_process import KeptProblems
from service.telemetry import RATE_WINDOW_S, RateMeter
from service.wire import Priority


def taken(schedule: FairSchedule[str, str]) -> list[str]:
    order = []
    while (job := schedule.take()) is not None:
        order.append(job)
    return order


def test_requests_take_turns_and_each_keeps_its_own_order() -> None:
    schedule = FairSchedule[str, str]()
    for job in ("a1", "a2", "a3", "b1", "c1", "c2"):
        schedule.put(job[0], "normal", job)
    assert taken(schedule) == ["a1", "b1", "c1", "a2", "c2", "a3"]


def test_a_late_request_waits_for_one_turn_only() -> None:
    schedule = FairSchedule[str, str]()
    for number in range(5):
        schedule.put("batch", "normal", f"batch{number}")
    schedule.take()
    schedule.put("late", "normal", "late")
    assert taken(schedule)[:2] == ["batch1", "late"]


def test_what_is_put_back_comes_first_in_its_priority() -> None:
    schedule = FairSchedule[str, str]()
    schedule.put("a", "normal", "a1")
    schedule.put("b", "normal", "b1")
    schedule.put("c", "high", "c1")
    schedule.put_first("b", "normal", "again")
    assert taken(schedule) == ["c1", "again", "a1", "b1"]


def test_a_dropped_request_waits_no_longer_at_any_priority() -> None:
    schedule = FairSchedule[str, str]()
    schedule.put("a", "high", "a1")
    schedule.put("a", "low", "a2")
    schedule.put("b", "low", "b1")
    assert schedule.drop("a") == ["a1", "a2"]
    assert schedule.drop("a") == []
    assert taken(schedule) == ["b1"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(LEVELS))))
def test_nothing_is_lost(jobs: list[tuple[str, Priority]]) -> None:
    schedule = FairSchedule[str, tuple[int, Priority]]()
    for number, (request, level) in enumerate(jobs):
        schedule.put(request, level, (number, level))
    order = []
    while (job := schedule.take()) is not None:
        order.append(job)
    assert sorted(number for number, _ in order) == list(range(len(jobs)))


def test_a_higher_priority_goes_first_but_a_lower_one_has_a_turn_now_and_then() -> None:
    schedule = FairSchedule[str, str]()
    for level in LEVELS:
        for _ in range(40):
            schedule.put(level, level, level)
    order = taken(schedule)
    assert order[:4] == ["high"] * 4
    assert order[:40].count("high") > order[:40].count("normal") > order[:40].count("low") >= 2
    for level in ("normal", "low"):
        places = [place for place, one in enumerate(order) if one == level]
        assert max(after - before for before, after in pairwise(places)) <= 17


def test_room_ends_at_the_capacity_in_submissions_or_bytes() -> None:
    backlog = Backlog(max_submissions=2, max_bytes=100)
    backlog.hold(1, 99)
    backlog.ensure_room()
    backlog.hold(1, 0)
    with pytest.raises(QueueFullError, match="2 submissions"):
        backlog.ensure_room()
    backlog.release(1, 0)
    backlog.hold(0, 1)
    with pytest.raises(QueueFullError, match="100 bytes"):
        backlog.ensure_room()
    backlog.release(1, 100)
    backlog.ensure_room()


def test_a_body_is_held_from_its_announcement_to_its_end() -> None:
    backlog = Backlog(max_submissions=2, max_bytes=100)
    with backlog.body(100) as share:
        share.grow(60)
        share.grow(100)
        with pytest.raises(QueueFullError):
            backlog.ensure_room()
    with backlog.body(0) as share:
        share.grow(150)
        with pytest.raises(QueueFullError):
            share.grow(200)
    backlog.ensure_room()


def test_the_time_to_come_back_follows_the_measured_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now_s)
    backlog = Backlog(max_submissions=10, max_bytes=100)
    for _ in range(20):
        backlog.judged()
        now_s += 0.5
    backlog.hold(29, 0)
    with pytest.raises(QueueFullError) as refused:
        backlog.ensure_room()
    assert refused.value.headers == {"Retry-After": "10"}


def test_the_rate_forgets_what_is_long_ago() -> None:
    meter = RateMeter()
    assert meter.per_second(0.0) == 0.0
    for second in range(10):
        meter.record(100.0 + second)
    assert meter.per_second(110.0) == pytest.approx(1.0)
    assert meter.per_second(110.0 + RATE_WINDOW_S) == 0.0


def test_a_worker_keeps_the_problems_used_last() -> None:
    kept = KeptProblems(max_bytes=100)
    assert kept.use("a", 60) == (True, [])
    assert kept.use("b", 40) == (True, [])
    assert kept.use("a", 60) == (False, [])
    assert kept.use("c", 30) == (True, ["b"])
    assert kept.use("huge", 1000) == (True, ["a", "c"])
    assert kept.use("a", 60) == (True, ["huge"])
