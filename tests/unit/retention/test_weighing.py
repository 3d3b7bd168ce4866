"""A limit in bytes: what goes is weighed before anything does."""

from __future__ import annotations

import pytest

from tests.unit.retention.feeds import FeedText, days, gone, run
from tests.unit.retention.memory import AtomicMemory, MemoryFileSystem
from tests.unit.retention.object_memory import ObjectMemory
from toolkit.el import CanonicalPath
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import ExitCode, Status
from toolkit.storage import ContentSummary, NotFound, PermissionDenied

_ANY = 10_000


class Weighed(MemoryFileSystem):
    """Notes what is weighed."""

    def __init__(self) -> None:
        super().__init__()
        self.weighed: list[str] = []

    def content_summary(self, path: CanonicalPath) -> ContentSummary:
        self.weighed.append(path.path)
        if path.path in self.locked:
            raise PermissionDenied(path=path)
        found = super().content_summary(path)
        return ContentSummary(files=found.files, directories=found.directories, size=100 * found.files)


def _system(*paths: str) -> Weighed:
    system = Weighed()
    system.put(*paths)
    return system


def test_a_plan_that_is_heavier_is_refused_before_the_first_effect() -> None:
    system = _system(*days(1, 2, 3), "/data/views/2024/x")
    feeds = (FeedText(), FeedText(name="views", data="/data/views/${YEAR}"))
    refused = run(system, *feeds, limits=DeleteLimits(instances=_ANY, bytes=399))
    assert (refused.status, refused.exit_code, system.effects) == (Status.REFUSED, ExitCode.REFUSED, [])
    message = str(refused.refusal)
    for part in ("at least 400 bytes", "clicks on primary: 3", "max_delete.bytes", "allows 399", refused.digest):
        assert part in message
    assert run(system, *feeds, limits=DeleteLimits(instances=_ANY, bytes=400)).status is Status.SUCCEEDED


def test_what_stays_is_not_weighed_and_no_more_is_than_is_needed() -> None:
    system = _system(*days(1, 2, 19))
    run(system, FeedText(), limits=DeleteLimits(instances=_ANY, bytes=200), dry_run=True)
    assert sorted(system.weighed) == ["/data/clicks/2026/03/01", "/data/clicks/2026/03/02"]
    many = _system(*(f"/data/{year}/x" for year in range(1000, 2000)))
    run(many, FeedText(data="/data/${YEAR}"), limits=DeleteLimits(instances=_ANY, bytes=0), dry_run=True)
    assert len(many.weighed) < 300


def test_a_directory_that_goes_as_a_whole_is_weighed_as_one() -> None:
    class Atomic(Weighed):
        capabilities = AtomicMemory.capabilities

    system = Atomic()
    system.put(*(f"/data/clicks/2025/12/{day:02}/x" for day in range(1, 32)), *days(1))
    run(system, FeedText(), limits=DeleteLimits(instances=_ANY, bytes=_ANY), dry_run=True)
    assert system.weighed == ["/data/clicks/2025", "/data/clicks/2026/03/01"]


def test_nothing_is_weighed_without_a_limit_in_bytes() -> None:
    system = _system(*days(1, 2))
    run(system, FeedText(), limits=DeleteLimits(instances=_ANY))
    assert system.weighed == []


def test_an_unknown_weight_is_refused_and_can_be_approved() -> None:
    system = _system(*days(1, 2))
    system.locked.add("/data/clicks/2026/03/02")
    limits = DeleteLimits(instances=_ANY, bytes=_ANY)
    refused = run(system, FeedText(), limits=limits)
    assert (refused.status, system.effects) == (Status.REFUSED, [])
    assert "an unknown number of bytes (" in str(refused.refusal)
    assert "/data/clicks/2026/03/02" in str(refused.refusal)
    system.locked.clear()
    assert run(system, FeedText(), limits=limits, approve=refused.digest).status is Status.SUCCEEDED


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_feed_of_unknown_weight_stays_alone(*, dry_run: bool) -> None:
    system = _system(*days(1, 2), "/data/views/2024/x")
    system.locked.add("/data/clicks/2026/03/02")
    feeds = (FeedText(), FeedText(name="views", data="/data/views/${YEAR}"))
    limits = DeleteLimits(instances=_ANY, bytes=100)
    result = run(system, *feeds, limits=limits, dry_run=dry_run)
    assert (result.status, result.exit_code) == (Status.PARTIAL, ExitCode.PARTIAL)
    assert gone(result) == ["/data/views/2024"]
    clicks, views = result.targets
    assert views.plan.failed is None
    assert clicks.plan.failed is not None
    assert clicks.plan.failed.code == "permission_denied"
    for part in ("max_delete.bytes", "/data/clicks/2026/03/02", "Run it alone"):
        assert part in clicks.plan.failed.message


def test_what_is_too_heavy_is_refused_also_beside_what_is_not_known() -> None:
    system = _system(*days(1, 2), "/data/views/2024/x")
    system.locked.add("/data/clicks/2026/03/02")
    feeds = (FeedText(), FeedText(name="views", data="/data/views/${YEAR}"))
    refused = run(system, *feeds, limits=DeleteLimits(instances=_ANY, bytes=99))
    assert (refused.status, system.effects) == (Status.REFUSED, [])
    system.locked.clear()
    approved = run(system, *feeds, limits=DeleteLimits(instances=_ANY, bytes=99), approve=refused.digest)
    assert len(gone(approved)) == 3


def test_what_vanished_meanwhile_weighs_nothing() -> None:
    class Vanishing(Weighed):
        def content_summary(self, path: CanonicalPath) -> ContentSummary:
            raise NotFound(path=path)

    system = Vanishing()
    system.put(*days(1))
    assert run(system, FeedText(), limits=DeleteLimits(instances=_ANY, bytes=0)).status is Status.SUCCEEDED


@pytest.mark.parametrize("system", [MemoryFileSystem(), ObjectMemory()], ids=["directories", "keys"])
def test_every_kind_of_store_is_weighed(system: MemoryFileSystem) -> None:
    system.put(*days(1, 2))
    refused = run(system, FeedText(), limits=DeleteLimits(instances=_ANY, bytes=1), dry_run=True)
    assert refused.status is Status.REFUSED
    assert run(system, FeedText(), limits=DeleteLimits(instances=_ANY, bytes=2)).status is Status.SUCCEEDED
