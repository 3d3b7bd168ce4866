"""Two metastores in memory with tables on a real disk, and a mirror between them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from tests.unit.actions.fake_action import context
from tests.unit.hive.test_table_import import KEY, Life, files
from tests.unit.quality.validators import CLUSTER
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Guard
from toolkit.actions.model import Problem
from toolkit.catalog.bound import read_only
from toolkit.catalog.location_policy import LocationPolicy
from toolkit.catalog.model import TableName
from toolkit.catalog.restricted import RestrictedMetastore
from toolkit.el import parse_instant
from toolkit.hive.mirror_recovery import EarlierRuns
from toolkit.hive.mirror_tables import DatabaseChanges, MirrorOutcome, TableMirror
from toolkit.hive.sources import Catalog
from toolkit.hive.targets import ImportRules, SchemaChange
from toolkit.runs.stop import NeverStopped
from toolkit.storage.local.file_system import LocalFileSystem

CLICKS, USERS = TableName("sales", "clicks"), TableName("sales", "users")
"""A table with partitions, and one without."""
DAYS = ("ds=2026-03-01", "ds=2026-03-02")


@dataclass(kw_only=True)
class MirrorSite:
    """The database `sales` on both sides; that of the source has two tables.

    Attributes:
        root: a directory of the test.
        drops: what the source lost is dropped.
    """

    root: Path
    drops: bool = True
    run: int = 0
    dead: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.hook: Callable[[], None] = lambda: None
        self.source = MemoryMetastore(("sales",), warehouse=f"file:{self.root}/from")
        self.target = MemoryMetastore(("sales",), warehouse=f"file:{self.root}/to")

    def filled(self) -> None:
        """Make both tables, with data."""
        self.source.create_table(table_of(CLICKS, f"file:{self.root}/from/clicks", ds="string"))
        for name in DAYS:
            self.add(name, "old")
        self.source.create_table(table_of(USERS, f"file:{self.root}/from/users"))
        self.write("users", "old")

    def write(self, place: str, text: str) -> None:
        """Have a directory of the source hold two files."""
        directory = self.root / "from" / place
        directory.mkdir(parents=True, exist_ok=True)
        for each in ("a", "b"):
            (directory / each).write_text(f"{text} {each}")

    def add(self, name: str, text: str) -> None:
        """Add a partition of `clicks`."""
        self.write(f"clicks/{name}", text)
        table, location = self.source.table(CLICKS), f"file:{self.root}/from/clicks/{name}"
        self.source.add_partitions(CLICKS, [partition_of(table, name.partition("=")[2], location=location)])

    def catalog(self, metastore: MemoryMetastore) -> Catalog:
        """A metastore, whose effects count."""
        policy = LocationPolicy(cluster=CLUSTER)
        opened = RestrictedMetastore(metastore, self.hook, policy)
        return Catalog(metastore=read_only(opened), bound=lambda _: opened, policy=policy)

    def work(self, life: Life | None = None) -> RunContext:
        """The context of a run."""
        system, guard = LocalFileSystem((life or Life()).count), Guard(run=NeverStopped(), conditions=())
        return replace(context(guard.run), guard=guard, stores=lambda _: system, run_name=str(self.run))

    def mirror(self, life: Life | None = None) -> TableMirror:
        """The mirror of the next run."""
        self.run += 1
        life = life or Life()
        self.hook = life.count
        return TableMirror(
            name="copy",
            clusters=("primary", "backup"),
            nominal=parse_instant(KEY),
            instance_key=KEY,
            source=self.catalog(self.source),
            target=self.catalog(self.target),
            rules=ImportRules(schema_change=SchemaChange.REPLACE, at_once=1),
            drops=self.drops,
            at_once=1,
            work=self.work(life),
            earlier=EarlierRuns(dead=self.dead, over=lambda ids: [each for each in ids if each < self.run]),
        )

    def planned(self, mirror: TableMirror, tables: Sequence[str] = ()) -> DatabaseChanges:
        """Compare all tables."""
        here, there = mirror.names(["sales"], tables)
        return mirror.planned(here, there - here)

    def ran(self, life: Life | None = None, tables: Sequence[str] = ()) -> MirrorOutcome:
        """A run over all tables; one that dies is among the dead runs from then on."""
        mirror = self.mirror(life)
        self.dead.add(self.run)
        outcome = mirror.apply(self.planned(mirror, tables))
        self.dead.discard(self.run)
        return outcome

    def rows(self, metastore: MemoryMetastore) -> dict[str, dict[str, str]]:
        """Return what readers see of a side, by table and partition."""
        found: dict[str, dict[str, str]] = {}
        for table in metastore.tables("sales"):
            described = metastore.table(TableName("sales", table))
            if not described.keys:
                found[table] = files(described.storage.location or "")
            for each in metastore.partitions(described.name, metastore.partition_names(described.name)):
                found[f"{table}/{described.partition_name(each)}"] = files(each.location)
        return found

    def left(self, but: Collection[str] = ()) -> list[str]:
        """Files and empty directories at the target that no reader sees."""
        owned = [Path(str(self.root / "to/sales.db" / each)) for each in but]
        for table in self.target.tables("sales"):
            name = TableName("sales", table)
            described = self.target.table(name)
            parts = self.target.partitions(name, self.target.partition_names(name))
            places = [each.location for each in parts] if described.keys else [described.storage.location or ""]
            owned += [Path(each.removeprefix("file:").removeprefix("//")) for each in places]
        there = [each for each in (self.root / "to").rglob("*") if each.is_file()]
        return [str(each) for each in there if not any(each.is_relative_to(own) for own in owned)]


def codes(outcome: MirrorOutcome) -> dict[str, str]:
    """Return the codes of what failed, by table."""
    problems: dict[str, Problem] = {str(name): each for name, each in outcome.failed.items()}
    return {name: each.code for name, each in problems.items()}
