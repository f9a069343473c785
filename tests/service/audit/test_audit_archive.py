"""Archives of audits, in a folder and in Redis: what is kept, for how long, and who may see it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from benchmarks.redis_server import NoRedisError, redis_server
from service.audit.archive.contract import DEAD_AFTER_S, Archive, AuditStatus, Keeping
from service.audit.archive.folder import FolderArchive
from service.distributed import keys
from service.distributed.connection import async_connection
from service.distributed.redis_audits import RedisArchive
from service.errors import NotReadyError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from redis.asyncio import Redis

A, B, C, D = (name * 32 for name in "abcd")
PLENTY = Keeping(100, 1 << 20, 3600.0)


class Place(Protocol):
    """Where an archive is: ``archive`` opens it, ``age`` lets what is kept of an audit grow old."""

    def archive(self, keeping: Keeping) -> Archive: ...

    async def age(self, job_id: str, by_s: float) -> None: ...

    async def close(self) -> None: ...


class FolderPlace:
    def __init__(self, folder: Path) -> None:
        self.folder = folder / "audits"

    def archive(self, keeping: Keeping) -> Archive:
        return FolderArchive(self.folder, keeping)

    async def age(self, job_id: str, by_s: float) -> None:
        file = self.folder / job_id / "status.json"
        when_s = file.stat().st_mtime - by_s
        os.utime(file, (when_s, when_s))

    async def close(self) -> None:
        pass


class RedisPlace:
    def __init__(self, url: str) -> None:
        self.redis: Redis = async_connection(url)

    def archive(self, keeping: Keeping) -> Archive:
        return RedisArchive(self.redis, keeping)

    async def age(self, job_id: str, by_s: float) -> None:
        for name in await self.redis.keys(f"{keys.audit(job_id)}*"):
            left_ms = await self.redis.pttl(name)
            await self.redis.pexpire(name, max(0, left_ms - round(1000 * by_s)))

    async def close(self) -> None:
        await self.redis.aclose()


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        with redis_server(tmp_path_factory.mktemp("redis")) as server:
            yield server.url
    except NoRedisError as error:
        pytest.skip(str(error))


type Run = Callable[[Callable[[Place], Awaitable[None]]], None]


@pytest.fixture(params=["folder", "redis"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Run:
    """Give a function that runs a test at an empty place."""
    url = request.getfixturevalue("redis_url") if request.param == "redis" else ""

    def running(test: Callable[[Place], Awaitable[None]]) -> None:
        async def whole() -> None:
            place: Any = FolderPlace(tmp_path) if request.param == "folder" else RedisPlace(url)
            if isinstance(place, RedisPlace):
                await place.redis.flushall()
            try:
                await test(place)
            finally:
                await place.close()

        asyncio.run(whole())

    return running


def status(job_id: str, state: Any = "finished", **fields: Any) -> AuditStatus:
    return AuditStatus(job_id=job_id, status=state, **fields)


def test_whoever_shares_the_place_answers_for_all(run: Run) -> None:
    async def test(place: Place) -> None:
        ours, theirs = place.archive(PLENTY), place.archive(PLENTY)
        assert await ours.begin(status(A, "queued", total=3)) is None
        assert await theirs.status(A) == status(A, "queued", total=3)
        await ours.write(status(A, "running", total=3, finished=1))
        assert await theirs.status(A) == status(A, "running", total=3, finished=1)
        assert await theirs.report(A, "json") is None
        page = "<p>é</p>" * 1000
        await ours.finish(status(A, total=3, finished=3), b'{"a": 1}', page.encode())
        assert await theirs.status(A) == status(A, total=3, finished=3)
        assert await theirs.report(A, "json") == b'{"a": 1}'
        assert await theirs.report(A, "html") == page.encode()

    run(test)


def test_an_audit_begins_once(run: Run) -> None:
    async def test(place: Place) -> None:
        ours, theirs = place.archive(PLENTY), place.archive(PLENTY)
        begun = await asyncio.gather(*(one.begin(status(A, "queued")) for one in (ours, theirs, ours)))
        assert sorted(one is None for one in begun) == [False, False, True]
        await ours.write(status(A, "running", finished=1))
        assert await theirs.begin(status(A, "queued")) == status(A, "running", finished=1)

    run(test)


@pytest.mark.parametrize("job_id", [A, "x", "../../etc", "", "a" * 33])
def test_nothing_is_known_of_unknown_audits(run: Run, job_id: str) -> None:
    async def test(place: Place) -> None:
        archive = place.archive(PLENTY)
        await archive.finish(status(B), b"{}", b"")
        assert await archive.status(job_id) is None
        assert await archive.report(job_id, "json") is None
        await archive.ask_to_cancel(job_id)
        assert await archive.status(job_id) is None

    run(test)


def test_one_whose_service_is_gone_has_failed(run: Run) -> None:
    async def test(place: Place) -> None:
        archive = place.archive(PLENTY)
        await archive.begin(status(A, "queued"))
        await archive.write(status(A, "running", total=9, finished=3))
        await place.age(A, DEAD_AFTER_S - 20)
        assert (await archive.status(A) or status(B)).status == "running"
        await place.age(A, 40)
        gone = await archive.status(A) or status(B)
        assert (gone.status, gone.error) == ("failed", "the service that ran it has ended")
        assert (gone.total, gone.finished) == (9, 3)

    run(test)


def test_any_service_may_ask_for_the_end_of_one(run: Run) -> None:
    async def test(place: Place) -> None:
        ours, theirs = place.archive(PLENTY), place.archive(PLENTY)
        await ours.begin(status(A, "running"))
        await ours.begin(status(B, "running"))
        assert not await ours.asked_to_cancel(A)
        await theirs.ask_to_cancel(A)
        assert await ours.asked_to_cancel(A)
        assert not await ours.asked_to_cancel(B)

    run(test)


async def ended_in_turn(archive: Archive, *job_ids: str, content: bytes = b"{}") -> None:
    for job_id in job_ids:
        await archive.begin(status(job_id, "running"))
        await archive.finish(status(job_id), content, content)
        # Times of files have a resolution of their own.
        await asyncio.sleep(0.02)


async def there(archive: Archive) -> list[str]:
    return [name for name in (A, B, C, D) if await archive.report(name, "json") is not None]


def test_the_latest_are_kept(run: Run) -> None:
    async def test(place: Place) -> None:
        archive = place.archive(Keeping(2, 1 << 20, 3600.0))
        await ended_in_turn(archive, A, B, C, D)
        assert await there(archive) == [C, D]
        assert await archive.status(A) is None
        assert await archive.status(D) is not None

    run(test)


def test_as_many_are_kept_as_there_is_room_for_and_the_last_one_in_any_case(run: Run) -> None:
    async def test(place: Place) -> None:
        content = os.urandom(2000)  # what does not compress
        archive = place.archive(Keeping(100, 9000, 3600.0))
        await ended_in_turn(archive, A, B, C, content=content)
        assert await there(archive) == [B, C]
        small = place.archive(Keeping(100, 10, 3600.0))
        await ended_in_turn(small, D, content=content)
        assert await there(small) == [D]

    run(test)


def test_none_is_kept_longer_than_it_may_be(run: Run) -> None:
    async def test(place: Place) -> None:
        archive = place.archive(Keeping(100, 1 << 20, 600.0))
        await ended_in_turn(archive, A, B)
        await place.age(A, 601)
        assert await archive.status(A) is None
        assert await archive.status(B) is not None
        await ended_in_turn(archive, C)
        assert await there(archive) == [B, C]

    run(test)


def test_those_that_run_are_not_dropped_and_those_that_failed_do_not_pile_up(tmp_path: Path) -> None:
    async def test() -> None:
        archive = FolderArchive(tmp_path, Keeping(1, 1 << 20, 3600.0))
        await archive.begin(status(A, "running"))
        for name in (B, C):
            await archive.begin(status(name, "queued"))
            await archive.write(status(name, "failed", error="x"))
            await asyncio.sleep(0.02)
        await archive.begin(status(D, "queued"))
        await archive.finish(status(D), b"{}", b"")
        assert sorted(folder.name for folder in tmp_path.iterdir()) == [A, D]  # noqa: ASYNC240 -- its own folder

    asyncio.run(test())


def test_files_of_others_in_the_folder_are_left_alone(tmp_path: Path) -> None:
    async def test() -> None:
        (tmp_path / "notes.txt").write_text("mine")
        (tmp_path / "other").mkdir()
        (tmp_path / "other" / "status.json").write_text("{}")
        archive = FolderArchive(tmp_path, Keeping(1, 1, 1.0))
        for name in (A, B):
            await archive.begin(status(name, "running"))
            await archive.finish(status(name), b"{}", b"")
        assert {one.name for one in tmp_path.iterdir()} == {B, "notes.txt", "other"}  # noqa: ASYNC240 -- the same

    asyncio.run(test())


def modes(place: Path) -> list[int]:
    return [folder.stat().st_mode & 0o777 for folder in place.iterdir()]


def test_without_a_folder_they_have_a_private_one_from_the_first_until_it_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def test() -> None:
        archive = FolderArchive(None, PLENTY)
        assert await archive.status(A) is None
        assert modes(tmp_path) == []
        await archive.begin(status(A, "running"))
        assert modes(tmp_path) == [0o700]
        await archive.finish(status(A), b"{}", b"")
        assert await archive.report(A, "json") == b"{}"
        await archive.close()
        assert await archive.report(A, "json") is None
        assert modes(tmp_path) == []

    asyncio.run(test())


def test_a_folder_that_cannot_be_written_is_named() -> None:
    async def test() -> None:
        archive = FolderArchive(Path("/proc/no/such"), PLENTY)
        with pytest.raises(NotReadyError, match="the folder of audits cannot be used"):
            await archive.begin(status(A, "queued"))

    asyncio.run(test())


def test_redis_that_is_away_is_named_and_all_its_keys_expire(redis_url: str) -> None:
    async def test() -> None:
        redis = async_connection(redis_url)
        archive = RedisArchive(redis, PLENTY)
        await archive.begin(status(A, "queued"))
        await archive.ask_to_cancel(A)
        await archive.finish(status(A), b"{}", b"")
        lives = [await redis.pttl(name) for name in await redis.keys("*")]
        assert len(lives) >= 5
        assert min(lives) > 0
        await redis.aclose()
        away = RedisArchive(async_connection("redis://127.0.0.1:1"), PLENTY)
        with pytest.raises(NotReadyError, match="Redis cannot be used"):
            await away.status(A)

    asyncio.run(test())
