"""Archiving one instance, by a run that may die before any of its effects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from tests.unit.retention.feeds import FeedText, cluster, context_on
from tests.unit.runs.fakes import THEN
from toolkit.el import CanonicalPath, parse_instant
from toolkit.entities import Archive, ExpiryAction, Feed, Locations, LocationType
from toolkit.ledger.runs.items import Item
from toolkit.ledger.vocabulary import ItemState
from toolkit.retention import RetentionResolver, SharedDataIndex
from toolkit.retention.archive import ArchivedDelete, Archiver
from toolkit.retention.delete import Removed, SingleDelete
from toolkit.retention.plan import ItemKind, PlanItem
from toolkit.retention.targets import FeedTarget
from toolkit.runs.stop import NeverStopped
from toolkit.storage import FileSystem, LocalFileSystem

DAY = "${YEAR}/${MONTH}/${DAY}"
FILES = {"part-0": "some", "deep/part-1": "more", "_SUCCESS": ""}


def feed(root: object, **others: str) -> Feed:
    """A daily feed that keeps ten days and archives the others."""
    plain = FeedText(data=f"{root}/data/{DAY}", others=others).feed()
    archive = Archive(cluster="backup", locations=Locations(data=f"{root}/archive/{DAY}"))
    (each,) = plain.clusters
    assert each.retention is not None
    archived = replace(each.retention, action=ExpiryAction.ARCHIVE, archive=archive)
    return replace(plain, availability_flag="_SUCCESS", clusters=(replace(each, retention=archived),))


def target_of(feed: Feed, system: FileSystem | None = None, *, repo: Iterable[Feed] = ()) -> FeedTarget:
    """The feed on its cluster, as a run works on it."""
    clusters = {"primary": cluster(), "backup": cluster("backup")}
    resolver = RetentionResolver(
        nominal_time=parse_instant("2026-03-20T12:00Z"),
        keep_beyond_validity=True,
        holds=(),
        storage=lambda _: system or LocalFileSystem(),
        archives=clusters,
        shared_data=SharedDataIndex(feeds=tuple(repo), clusters=tuple(clusters.values())),
    )
    (target,) = resolver.resolve([(feed, clusters["primary"])], must_all_work=True).to_do
    return target


class Dead(BaseException):
    """The process is not there any more."""


class Dying(LocalFileSystem):
    """A disk whose process dies before so many effects."""

    def __init__(self, effects: int) -> None:
        super().__init__(self._count)
        self.left = effects

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Dead


def one_by(
    stores: Callable[[CanonicalPath], FileSystem], target: FeedTarget, path: CanonicalPath, run_name: str
) -> Removed:
    """Archive and remove one instance, by a run with that name."""
    assert target.archive is not None
    work = replace(context_on(stores(path), NeverStopped()), stores=stores, run_name=run_name)
    archiver = Archiver(work=work, base_of=target.archive.base_of, flag=target.availability_flag)
    item = PlanItem(
        type=ItemKind.INSTANCE,
        feed="clicks",
        cluster="primary",
        location=LocationType.DATA,
        instance_key="2026-03-01T00:00Z",
        path=path,
        base=target.locations[0].base,
        archive=target.archived(path),
    )
    single = SingleDelete(work=work, first=target.availability_flag)
    return ArchivedDelete(archiver=archiver, single=single).remove(item)


def left_by(run_id: int, path: CanonicalPath) -> Item:
    """Return what the ledger has of an instance that a run was at when it died."""
    return Item(
        run_id=run_id,
        position=0,
        kind="instance:data",
        path=str(path),
        instance_key="2026-03-01T00:00Z",
        state=ItemState.INTENDED,
        code=None,
        message=None,
        intended_at=THEN,
        settled_at=None,
    )
