"""Tables that come to a metastore in memory and a real disk: a run may die after each of its effects."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import inf
from pathlib import Path

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import TEXT, partition_of, table_of
from tests.unit.actions.fake_action import context
from tests.unit.quality.validators import BLOCKS, CLUSTER
from toolkit.actions.action import Recovery, RunContext
from toolkit.actions.copy_limits import CopyLimits
from toolkit.actions.guard import Condition, Guard
from toolkit.actions.model import ItemResult
from toolkit.actions.validation import FeedValidation, Validator
from toolkit.catalog.bound import read_only
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.model import Column, Table, TableKind, TableName
from toolkit.catalog.restricted import RestrictedMetastore
from toolkit.el import Frequency, TableUri, parse_instant
from toolkit.entities import Cluster, Feed
from toolkit.hive.action import TableAction
from toolkit.hive.registration_mark import LATEST_CALL
from toolkit.hive.sources import Catalog, MetastoreSource
from toolkit.hive.table_import import TableImport
from toolkit.hive.targets import ImportRules, SchemaChange, TableItem, TablePlan, TableTarget
from toolkit.ledger.runs.items import Item
from toolkit.ledger.vocabulary import ItemState, LifeCycle
from toolkit.result import Outcome
from toolkit.runs.stop import NeverStopped
from toolkit.storage.local.file_system import LocalFileSystem

FROM, TO = TableName("src", "clicks"), TableName("dst", "clicks")
URI = TableUri.parse("catalog:src:clicks#ds=${YEAR}-${MONTH}-${DAY}")
KEY = "2026-03-01T00:00Z"
FEED = Feed(name="clicks", frequency=Frequency.parse("days(1)"), clusters=())
NAMES = ("ds=2026-03-01/region=in", "ds=2026-03-01/region=us")


class Dead(BaseException):
    """The process is not there any more."""


@dataclass(kw_only=True)
class Life:
    """A process that dies after a number of effects on its store and its metastore."""

    left: float = inf
    effects: int = 0

    def count(self) -> None:
        """Another one begins."""
        if self.left <= 0:
            raise Dead
        self.left -= 1
        self.effects += 1


@dataclass(kw_only=True)
class Scene:
    """A table on both sides.

    Attributes:
        root: a directory of this test.
        key: of the instance; of the whole table the time of the run.
        rules: how the table comes.
        validator: validates it; None: it is not validated.
        cluster: both sides, as far as places go.
        store: of the target and the source; what counts its effects is given.
    """

    root: Path
    key: str = KEY
    rules: ImportRules = field(default_factory=ImportRules)
    validator: Validator | None = None
    store: type[LocalFileSystem] = LocalFileSystem
    cluster: Cluster = CLUSTER
    run: int = 0

    def __post_init__(self) -> None:
        self.hook: Callable[[], None] = lambda: None
        self.source = MemoryMetastore(("src",), warehouse=f"file:{self.root}/from")
        self.target = MemoryMetastore(("dst",), warehouse=f"file:{self.root}/to")

    def made(self, **keys: str) -> Table:
        """The source's table, in `from/clicks`."""
        self.source.create_table(table_of(FROM, f"file:{self.root}/from/clicks", **keys))
        return self.source.table(FROM)

    def fill(self, name: str, text: str) -> None:
        """Have a directory of the source hold two files."""
        place = self.root / "from/clicks" / name
        place.mkdir(parents=True, exist_ok=True)
        for each in ("a", "b"):
            (place / each).write_text(f"{text} {each}")

    def filled(self, text: str = "old") -> None:
        """The source has two partitions."""
        table = self.made(ds="string", region="string")
        for name in NAMES:
            self.fill(name, text)
            values = tuple(part.partition("=")[2] for part in name.split("/"))
            location = f"file:{self.root}/from/clicks/{name}"
            self.source.add_partitions(FROM, [partition_of(table, *values, location=location)])

    def work(self, life: Life, conditions: Sequence[Condition] = ()) -> RunContext:
        """Of a run."""
        system, guard = self.store(life.count), Guard(run=NeverStopped(), conditions=conditions)
        work = replace(context(guard.run), guard=guard, stores=lambda _: system, run_name=str(self.run))
        return work if self.validator is None else replace(work, validator=self.validator)

    def action(self, *, whole: bool = False) -> tuple[TableAction, TableTarget]:
        """Return what a run does, and with what."""
        source, target = (self.catalog(each) for each in (self.source, self.target))
        copied = MetastoreSource(catalog=source, uri=lambda _: URI)
        action = TableAction(
            name="hive_replication",
            life_cycle=LifeCycle.REPLICATION,
            mode_of=lambda context: TableImport(source=copied, catalog=target, context=context),
            nominal=parse_instant(KEY),
            limits=CopyLimits(instances=100),
            address=lambda target: f"{target.table}@{target.instance_key}",
        )
        instant = None if whole else parse_instant(KEY)
        target_of = TableTarget(
            feed="clicks",
            cluster="backup",
            counterpart="primary",
            instance_key=self.key,
            instant=instant,
            table=TO,
            source=FROM,
            rules=replace(self.rules, at_once=1),
            validation=None if self.validator is None else FeedValidation(feed=FEED, cluster=CLUSTER, quality=BLOCKS),
        )
        return action, target_of

    def catalog(self, metastore: MemoryMetastore) -> Catalog:
        """A metastore of this scene."""
        return Catalog(
            metastore=read_only(self._restricted(metastore)),
            bound=lambda _: self._restricted(metastore),
            policy=LocationPolicy(cluster=self.cluster),
        )

    def _restricted(self, metastore: MemoryMetastore) -> RestrictedMetastore:
        return RestrictedMetastore(metastore, self.hook, LocationPolicy(cluster=self.cluster))

    def ran(self, life: Life | None = None, *, whole: bool = False) -> Iterator[ItemResult[TableItem]]:
        """A run that plans, settles what an earlier one left, and applies; dies when its life is over."""
        life = life or Life()
        self.run += 1
        self.hook = life.count
        work = self.work(life)
        action, target = self.action(whole=whole)
        plan: TablePlan = action.plan(target, work)
        self.notes.clear()
        if plan.failed is not None:
            raise AssertionError(plan.failed)
        self.plan = plan
        self.recovery = action.recover(plan, self.left, work) if self.left else Recovery()
        settled = [each.left for each in self.recovery.settled]
        before = [each for each in self.left if each not in settled]
        self.left = before
        for batch in action.batches(plan, work):
            self.left = [*before, *(open_item(self.run, at, plan.items[at]) for at in batch.positions)]
            applied = batch.apply(lambda _: None)
            self.notes += applied.notes
            yield from applied.results
            self.left = before

    notes: list[str] = field(default_factory=list)
    left: list[Item] = field(default_factory=list)
    recovery: Recovery = field(default_factory=Recovery)
    stays: list[Path] = field(default_factory=list)
    """What was replaced where Hive would have it: nobody can tell who reads it, so that it stays."""

    def wait(self) -> None:
        """Let time go by until the metastore executes no call of a dead run any more."""
        for each in (self.root / "to").rglob(".feedctl-registering-*"):
            then = each.stat().st_mtime - LATEST_CALL.total_seconds()
            os.utime(each, (then, then))

    def rows(self) -> dict[str, dict[str, str]]:
        """Return what readers see in the target."""
        table = self.target.table(TO) if "clicks" in self.target.tables("dst") else None
        if table is None:
            return {}
        if not table.keys:
            return {"": files(table.storage.location or "")}
        found = self.target.partitions(TO, self.target.partition_names(TO))
        return {table.partition_name(each): files(each.location) for each in found}

    def orphans(self) -> list[str]:
        """Files at the target that no reader sees, and empty directories."""
        table = self.target.table(TO)
        places = [each.location for each in self.target.partitions(TO, self.target.partition_names(TO))]
        owned = [
            Path(place.removeprefix("file:").removeprefix("//")) for place in places or [table.storage.location or ""]
        ]
        owned += self.stays
        there = [each for each in (self.root / "to").rglob("*") if each.is_file() or not any(each.iterdir())]
        return [str(each) for each in there if not any(each.is_relative_to(own) for own in owned)]


def files(location: str) -> dict[str, str]:
    place = Path(location.removeprefix("file:").removeprefix("//"))
    return {each.name: each.read_text() for each in place.iterdir()} if place.is_dir() else {}


def open_item(run: int, position: int, item: TableItem) -> Item:
    return Item(
        run_id=run,
        position=position,
        kind=item.kind,
        path=item.uri,
        instance_key=item.instance_key,
        state=ItemState.INTENDED,
        code=None,
        message=None,
        intended_at=datetime.now(UTC),
        settled_at=None,
    )


def both(text: str) -> dict[str, str]:
    return {each: f"{text} {each}" for each in ("a", "b")}


def done(results: Iterator[ItemResult[TableItem]]) -> list[str]:
    found = list(results)
    assert [each.message for each in found if each.outcome is Outcome.FAILED] == []
    return [each.item.kind for each in found]


@pytest.mark.parametrize("changes", [False, True])
def test_after_whichever_effect_a_run_dies_readers_see_whole_partitions_and_the_next_run_finishes(
    tmp_path: Path, *, changes: bool
) -> None:
    deaths = 0
    for number in range(200):
        scene = Scene(root=tmp_path / str(number))
        scene.filled()
        if changes:
            assert done(scene.ran())
            scene.stays = [scene.root / "to/dst.db/clicks" / NAMES[0]]
            scene.fill(NAMES[0], "older than that")
            assert done(scene.ran()) == ["replace"]
            scene.fill(NAMES[0], "newer")
        allowed = [both("old"), both("older than that"), both("newer")]
        try:
            list(scene.ran(Life(left=number)))
        except Dead:
            deaths += 1
            assert all(each in allowed or (changes and not each) for each in scene.rows().values()), number
            scene.wait()
            done(scene.ran())
        else:
            assert deaths > 4
            return
        expected = {NAMES[0]: both("newer" if changes else "old"), NAMES[1]: both("old")}
        assert scene.rows() == expected, number
        assert scene.orphans() == [], number
        assert list(scene.ran()) == [], number
    pytest.fail("the run never came to its end")


def test_a_table_without_partitions_appears_with_its_data_and_is_replaced_again_and_again(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.made()
    for text in ("old", "new", "newer"):
        scene.fill("", f"{text} rows" * (1 if text == "old" else 2))
        steps = {"old": ["add"], "new": ["replace"], "newer": ["replace", "clean"]}
        assert done(scene.ran(whole=True)) == steps[text]
        scene.stays = [tmp_path / "to/dst.db/clicks"]
        assert scene.rows() == {"": files(f"file:{tmp_path}/from/clicks")}
        assert scene.orphans() == []
    assert list(scene.ran(whole=True)) == []


def test_a_description_that_changed_alone_copies_nothing_and_moves_nothing(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    assert done(scene.ran()) == ["table", "add", "add"]
    before = {each.values: each.location for each in scene.target.partitions(TO, NAMES)}
    (first,) = scene.source.partitions(FROM, NAMES[:1])
    scene.source.alter_partitions(FROM, [replace(first, parameters={"owner": "x"})])
    assert done(scene.ran()) == ["describe"]
    found = scene.target.partitions(TO, NAMES)
    assert {each.values: each.location for each in found} == before
    assert scene.target.partitions(TO, NAMES[:1])[0].parameters["owner"] == "x"


def test_a_view_comes_as_its_query(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    query = "SELECT id FROM src.other"
    view = replace(table_of(FROM, ""), kind=TableKind.VIEW, view_original=query, view_expanded=query)
    scene.source.create_table(replace(view, storage=replace(TEXT, location=None)))
    assert done(scene.ran(whole=True)) == ["table"]
    assert scene.target.table(TO).view_original == "SELECT id FROM dst.other"
    assert list(scene.ran(whole=True)) == []


def test_a_table_whose_files_are_read_otherwise_is_refused_or_described_anew(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    assert done(scene.ran())
    skipping = {"skip.header.line.count": "1"}
    table = scene.source.table(FROM)
    scene.source.alter_table(replace(table, parameters={**table.parameters, **skipping}))
    for rule in (SchemaChange.FAIL, SchemaChange.ADDITIVE):
        scene.rules = ImportRules(schema_change=rule)
        with pytest.raises(AssertionError, match=r"skip\.header\.line\.count '1' instead of '0'"):
            list(scene.ran())
    scene.rules = ImportRules(schema_change=SchemaChange.REPLACE)
    assert done(scene.ran()) == ["table"]
    assert scene.target.table(TO).parameters.items() >= skipping.items()
    scene.source.alter_table(table)
    assert done(scene.ran()) == ["table"]
    assert "skip.header.line.count" not in scene.target.table(TO).parameters
    assert list(scene.ran()) == []


def test_an_added_column_comes_only_when_it_may(tmp_path: Path) -> None:
    scene = Scene(root=tmp_path)
    scene.filled()
    assert done(scene.ran())
    table = scene.source.table(FROM)
    wider = (*table.storage.columns, Column(name="more", type="string"))
    scene.source.alter_table(replace(table, storage=replace(table.storage, columns=wider)))
    with pytest.raises(AssertionError, match="more string"):
        list(scene.ran())
    scene.rules = ImportRules(schema_change=SchemaChange.ADDITIVE)
    assert done(scene.ran()) == ["table"]
    assert scene.target.table(TO).storage.columns == wider
