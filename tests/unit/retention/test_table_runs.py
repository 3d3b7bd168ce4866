"""A retention run over a table: which partitions go, what of them goes, and what the result says."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from tests.tables.memory_metastore import MemoryMetastore
from tests.tables.tables import partition_of, table_of
from tests.unit.retention.feeds import FeedText
from tests.unit.retention.tables import BASE, DS, TableSite, done, kept, not_done
from toolkit.catalog.errors import AccessDenied, MetastoreFailure, MetastoreUnreachable
from toolkit.catalog.model import Partition, TableKind, TableName
from toolkit.el import parse_instant
from toolkit.entities import FeedMaxDelete, Hold
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import ExitCode, Outcome, Status
from toolkit.retention import RetentionResult
from toolkit.retention.explain import Explainer, RetentionDecision
from toolkit.storage import PermissionDenied

LOGS = "catalog:logs:clicks#"


def _failure(result: RetentionResult) -> tuple[str, str]:
    (target,) = result.targets
    assert target.plan.failed is not None
    return target.plan.failed.code, target.plan.failed.message


def test_old_partitions_go_with_their_data_and_young_ones_stay() -> None:
    site = TableSite()
    site.add_days("09", "10", "11")
    result = site.run()
    assert site.names == ["ds=2026-03-11"]
    assert site.directories == ["ds=2026-03-11"]
    assert done(result) == [
        f"{LOGS}ds=2026-03-09",
        f"file://{BASE}/ds=2026-03-09",
        f"{LOGS}ds=2026-03-10",
        f"file://{BASE}/ds=2026-03-10",
    ]
    assert (result.status, result.exit_code) == (Status.SUCCEEDED, ExitCode.DONE)


def test_a_dry_run_shows_exactly_what_a_run_does_and_does_nothing() -> None:
    site = TableSite()
    site.add_days("01", "20")
    planned = site.run(dry_run=True)
    assert (site.names, site.system.effects) == (["ds=2026-03-01", "ds=2026-03-20"], [])
    run = site.run()
    assert [each.item for each in planned.items] == [each.item for each in run.items]
    assert planned.digest == run.digest != ""


def test_a_second_run_finds_nothing_to_do() -> None:
    site = TableSite()
    site.add_days("01", "20")
    site.run()
    again = site.run()
    assert ([*again.items], again.status) == ([], Status.SUCCEEDED)


def test_each_evicted_instance_is_told_once_when_its_partitions_are_forgotten() -> None:
    site = TableSite(keys={"ds": "string", "region": "string"})
    for region in ("us", "in"):
        site.add("2026-03-01", region)
    site.run()
    assert [each.instance_key for each in site.recorder.events()] == ["2026-03-01T00:00Z"]


def test_emptied_parents_go_and_the_table_stays() -> None:
    site = TableSite(
        uri="catalog:logs:clicks#year=${YEAR};month=${MONTH};day=${DAY}",
        keys={"year": "string", "month": "string", "day": "string"},
    )
    site.add("2026", "02", "01")
    site.add("2026", "03", "01")
    site.add("2026", "03", "20")
    site.run()
    assert site.directories == ["year=2026", "year=2026/month=03", "year=2026/month=03/day=20"]
    site.metastore.drop_partitions(site.table.name, site.names)
    site.add("2026", "01", "01")
    site.run()
    assert BASE in site.system.directories


def test_only_partitions_with_all_fixed_values_go_whatever_the_order_of_the_tables_keys() -> None:
    site = TableSite(uri=f"{DS};region=us", keys={"region": "string", "ds": "string"})
    for region in ("us", "in"):
        site.add(region, "2026-03-01")
    site.run()
    assert site.names == ["region=in/ds=2026-03-01"]
    assert site.directories == ["region=in", "region=in/ds=2026-03-01"]


def test_keys_are_found_whatever_their_case() -> None:
    site = TableSite(uri="catalog:Logs:Clicks#DS=${YEAR}-${MONTH}-${DAY}")
    site.add_days("01")
    site.run()
    assert site.names == []


def test_null_unpadded_and_foreign_values_are_counted_and_stay() -> None:
    site = TableSite(uri="catalog:logs:clicks#year=${YEAR};month=${MONTH}", keys={"year": "int", "month": "int"})
    site.text = FeedText(frequency="months(1)", limit="months(1)")
    for values in (("2026", "1"), ("2025", "12"), ("__HIVE_DEFAULT_PARTITION__", "01"), ("abc", "01")):
        site.add(*values)
    result = site.run()
    assert site.names == ["year=2026/month=1", "year=__HIVE_DEFAULT_PARTITION__/month=01", "year=abc/month=01"]
    unrecognized = result.targets[0].plan.detail.unrecognized
    assert unrecognized.count == 3
    assert ("catalog:logs:clicks#year=2026/month=1", "month is '1', expected '${MONTH}' (MONTH 01 to 12)") in (
        unrecognized.sample
    )


def test_special_characters_in_values_and_directories() -> None:
    site = TableSite(uri=f"{DS}-${{HOUR}}:00", keys={"ds": "string", "who": "string"})
    site.text = FeedText(frequency="hours(1)")
    for who in ("a/b", "50%", "x;y", "ü z", "k=v"):
        site.add("2026-03-01-05:00", who)
    place = site.add("2026-03-20-05:00", "a/b")
    site.run()
    assert site.names == ["ds=2026-03-20-05%3A00/who=a%2Fb"]
    assert site.system.tree()[-1] == f"{place}/part"
    assert place == f"{BASE}/ds=2026-03-20-05%3A00/who=a%2Fb"


def test_keep_last_counts_instances_and_the_late_window_protects() -> None:
    site = TableSite(text=FeedText(keep_last=2), keys={"ds": "string", "region": "string"})
    for day in ("01", "02", "03"):
        for region in ("us", "in"):
            site.add(f"2026-03-{day}", region)
    result = site.run()
    assert [name.partition("/")[0] for name in site.names] == ["ds=2026-03-02"] * 2 + ["ds=2026-03-03"] * 2
    assert kept(result)["ds=2026-03-02/region=in"] == ("keep_last", "the newest 2")
    late = TableSite(text=FeedText(cut_off="days(12)"))
    late.add_days("07", "09")
    assert kept(late.run()) == {"ds=2026-03-09": ("late_window", "cut-off days(12)")}


def test_a_hold_keeps_partitions_and_their_data() -> None:
    site = TableSite()
    site.add_days("01", "02")
    hold = Hold(feed="clicks", end=parse_instant("2026-03-02T00:00Z"), reason="case 7")
    assert kept(site.run(holds=[hold])) == {"ds=2026-03-01": ("hold", "case 7")}
    assert site.names == ["ds=2026-03-01"]
    assert site.directories == ["ds=2026-03-01"]


def test_a_hold_file_in_the_tables_directory_keeps_everything() -> None:
    site = TableSite()
    site.add_days("01")
    site.system.files[f"{BASE}/.feedctl-hold"] = b"audit"
    result = site.run()
    assert site.names == ["ds=2026-03-01"]
    (note,) = result.targets[0].plan.notes
    assert note == f"1 instance would go but is held by file hold file://{BASE}/.feedctl-hold: audit"


def test_a_hold_file_that_comes_meanwhile_stops_what_has_not_begun() -> None:
    @dataclass
    class Held(MemoryMetastore):
        site: TableSite | None = None

        def __init__(self) -> None:
            super().__init__(["logs"])

        def partitions(self, name: TableName, names: object) -> tuple[Partition, ...]:
            if self.site is not None:  # planning looks, too
                self.site.system.files[f"{BASE}/.feedctl-hold"] = b""
            return super().partitions(name, names)  # type: ignore[arg-type]

    metastore = Held()
    site = TableSite(metastore=metastore)
    site.add_days("01")
    metastore.site = site
    result = site.run()
    assert site.names == ["ds=2026-03-01"]
    assert {each.code for each in result.items} == {"held"}


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        (DeleteLimits(instances=1), "2 instances"),
        (DeleteLimits(fraction=0.5), "2 of 3 instances"),
        (DeleteLimits(instances=10, bytes=1), "at least 2 bytes"),
    ],
)
def test_limits_refuse_partitions_as_they_do_instances(limits: DeleteLimits, what: str) -> None:
    site = TableSite()
    site.add_days("01", "02", "20")
    refused = site.run(limits=limits)
    assert refused.exit_code is ExitCode.REFUSED
    assert what in str(refused.refusal)
    assert len(site.names) == 3
    site.run(limits=limits, approve=refused.digest)
    assert site.names == ["ds=2026-03-20"]


def test_the_young_partitions_count_for_the_fraction() -> None:
    site = TableSite()
    site.add_days("01", "20", "19")
    assert site.run(limits=DeleteLimits(instances=9, fraction=0.34)).status is Status.SUCCEEDED


def test_a_limit_of_the_feed_alone_refuses_it() -> None:
    site = TableSite(text=FeedText(max_delete=FeedMaxDelete(instances=1)))
    site.add_days("01", "02")
    assert site.run().exit_code is ExitCode.REFUSED


def test_metadata_is_forgotten_before_data_go() -> None:
    site = TableSite()
    site.add_days("01")
    seen: list[list[str]] = []
    site.system.before_delete = lambda _: seen.append(site.names)
    site.run()
    assert seen == [[]]
    first = site.recorder.steps[0]
    assert [each.kind for each in first.intended] == ["partition:data", "partition_data:data"]


def test_denied_data_are_named_and_stay_open_and_the_others_go() -> None:
    site = TableSite()
    site.add_days("01", "02")
    site.system.locked.add(f"{BASE}/ds=2026-03-01/part")
    result = site.run()
    assert site.names == []
    assert site.directories == ["ds=2026-03-01"]
    assert not_done(result) == [(f"file://{BASE}/ds=2026-03-01", "failed", PermissionDenied.code)]
    assert result.exit_code is ExitCode.PARTIAL
    assert [each.instance_key for each in site.recorder.events()] == ["2026-03-01T00:00Z", "2026-03-02T00:00Z"]
    assert [each.position for step in site.recorder.steps for each in step.settled] == [2, 3]  # the next run needs both


@dataclass
class Moving(MemoryMetastore):
    """One where partitions of these days get another location after the plan was made."""

    days: tuple[str, ...] = ("01",)
    looks: int = 0

    def __init__(self) -> None:
        super().__init__(["logs"])

    def partitions(self, name: TableName, names: object) -> tuple[Partition, ...]:
        self.looks += 1
        found = super().partitions(name, names)  # type: ignore[arg-type]
        return tuple(self._moved(each) for each in found) if self.looks == 2 else found

    def _moved(self, each: Partition) -> Partition:
        has_moved = each.values[0].removeprefix("2026-03-") in self.days
        return replace(each, storage=replace(each.storage, location="file:/new")) if has_moved else each


def test_a_partition_that_moved_since_the_plan_stays_with_its_data() -> None:
    site = TableSite(metastore=Moving())
    site.add_days("01")
    assert not_done(site.run()) == [
        (f"{LOGS}ds=2026-03-01", "skipped", "moved"),
        (f"file://{BASE}/ds=2026-03-01", "skipped", "partition_stays"),
    ]
    assert site.names == ["ds=2026-03-01"]


def test_the_others_of_its_place_stay_with_it_and_those_of_other_places_go() -> None:
    site = TableSite(metastore=Moving())
    site.add("2026-03-01", location="/data/x/one")
    site.add("2026-03-02", location="/data/x/one")
    site.add("2026-03-03", location="/data/x/two")
    assert not_done(site.run()) == [
        (f"{LOGS}ds=2026-03-01", "skipped", "moved"),
        (f"{LOGS}ds=2026-03-02", "skipped", "partition_stays"),
        ("file:///data/x/one", "skipped", "partition_stays"),
    ]
    assert site.names == ["ds=2026-03-01", "ds=2026-03-02"]
    assert "/data/x/two" not in site.system.directories


@dataclass
class Failing(MemoryMetastore):
    """One whose call of this name fails."""

    at: str = ""
    error: Exception = field(default_factory=lambda: MetastoreUnreachable(about="thrift://x:1"))
    then: bool = False

    def __init__(self, at: str, error: Exception | None = None, *, then: bool = False) -> None:
        super().__init__(["logs"])
        self.at, self.then = at, then
        self.error = error or MetastoreUnreachable(about="thrift://x:1")

    def partition_names(self, name: TableName, **_: object) -> tuple[str, ...]:
        if self.at == "names":
            raise self.error
        return super().partition_names(name)

    def drop_partitions(self, name: TableName, names: object) -> tuple[str, ...]:
        dropped = super().drop_partitions(name, names) if self.then else ()  # type: ignore[arg-type]
        if self.at == "drop":
            raise self.error
        return dropped or super().drop_partitions(name, names)  # type: ignore[arg-type]


def test_a_metastore_that_is_down_fails_the_feed() -> None:
    site = TableSite(metastore=Failing("names"))
    site.add_days("01")
    result = site.run()
    assert (result.exit_code, _failure(result)[0]) == (ExitCode.FAILED, "unreachable")


def test_a_drop_without_an_answer_leaves_all_of_it_open() -> None:
    site = TableSite(metastore=Failing("drop", then=True))
    site.add_days("01")
    result = site.run()
    assert [each.code for each in result.items] == ["unreachable", "unreachable"]
    assert site.directories == ["ds=2026-03-01"]
    assert [each for step in site.recorder.steps for each in (*step.settled, *step.events)] == []


def test_a_drop_that_was_refused_leaves_data_alone_and_nothing_open() -> None:
    site = TableSite(metastore=Failing("drop", AccessDenied(about="logs.clicks")))
    site.add_days("01")
    assert not_done(site.run()) == [
        (f"{LOGS}ds=2026-03-01", "failed", "permission_denied"),
        (f"file://{BASE}/ds=2026-03-01", "skipped", "partition_stays"),
    ]
    assert [each.position for step in site.recorder.steps for each in step.settled] == [0, 1]


def test_a_drop_that_failed_after_it_was_done_counts_as_done() -> None:
    site = TableSite(metastore=Failing("drop", MetastoreFailure(about="logs.clicks", detail="a listener"), then=True))
    site.add_days("01")
    assert (not_done(site.run()), site.directories) == ([], [])
    assert [each.instance_key for each in site.recorder.events()] == ["2026-03-01T00:00Z"]


def test_a_drop_that_failed_before_it_was_done_leaves_data_alone() -> None:
    site = TableSite(metastore=Failing("drop", MetastoreFailure(about="logs.clicks")))
    site.add_days("01")
    assert [code for _, _, code in not_done(site.run())] == ["metastore_failure", "partition_stays"]
    assert site.directories == ["ds=2026-03-01"]


def test_a_drop_that_failed_and_that_nobody_can_tell_of_stays_open() -> None:
    class Dying(Failing):
        is_dead = False

        def drop_partitions(self, name: TableName, names: object) -> tuple[str, ...]:
            self.is_dead = True
            return super().drop_partitions(name, names)

        def partitions(self, name: TableName, names: object) -> tuple[Partition, ...]:
            if self.is_dead:
                raise MetastoreUnreachable(about="thrift://x:1")
            return super().partitions(name, names)  # type: ignore[arg-type]

    site = TableSite(metastore=Dying("drop", MetastoreFailure(about="logs.clicks"), then=True))
    site.add_days("01")
    assert site.run().exit_code is ExitCode.FAILED
    assert site.directories == ["ds=2026-03-01"]
    assert [each for step in site.recorder.steps for each in step.settled] == []


def test_a_missing_table_fails_the_feed_and_names_it() -> None:
    site = TableSite(uri="catalog:logs:nothing#ds=${YEAR}")
    assert _failure(site.run()) == (
        "no_such_table",
        "logs.nothing: the metastore has no such table; check the name, or have it created",
    )


@pytest.mark.parametrize(
    ("uri", "keys", "why"),
    [
        ("catalog:logs:clicks#day=${YEAR}", {"ds": "string"}, "it has no key day; its keys are: ds string"),
        ("catalog:logs:clicks#ds=${YEAR}", {}, "it has no key ds; its keys are: none"),
        ("catalog:logs:clicks#ds=${YEAR}", {"ds": "double"}, "ds is a double, which cannot be dated"),
        ("catalog:logs:clicks#ds=${YEAR}", {"ds": "timestamp"}, "ds is a timestamp, which cannot be dated"),
        ("catalog:logs:clicks#ds=${YEAR}${MONTH}", {"ds": "date"}, "so expected ds=${YEAR}-${MONTH}-${DAY}"),
    ],
)
def test_keys_that_do_not_fit_fail_the_feed(uri: str, keys: dict[str, str], why: str) -> None:
    code, message = _failure(TableSite(uri=uri, keys=keys).run())
    assert code == "wrong_keys"
    assert why in message


def test_all_wrong_keys_are_named_at_once() -> None:
    site = TableSite(uri="catalog:logs:clicks#ds=${YEAR};a=1;b=2", keys={"ds": "double"})
    message = _failure(site.run())[1]
    assert all(part in message for part in ("ds is a double", "no key a", "no key b"))


@pytest.mark.parametrize(
    ("parameters", "instead"),
    [({"transactional": "true"}, "DROP PARTITION"), ({"table_type": "ICEBERG"}, "expire_snapshots")],
)
def test_other_systems_tables_are_refused_with_what_to_use(parameters: dict[str, str], instead: str) -> None:
    site = TableSite()
    site.metastore.change_parameters(site.table.name, put=parameters)
    code, message = _failure(site.run())
    assert code == "unsupported_table"
    assert instead in message


def test_a_view_is_refused() -> None:
    metastore = MemoryMetastore(["logs", "web"])
    view = replace(table_of(TableName("logs", "seen"), "file:/wh/seen", ds="string"), kind=TableKind.VIEW)
    metastore.create_table(view)
    site = TableSite(metastore=metastore, uri="catalog:logs:seen#ds=${YEAR}-${MONTH}-${DAY}")
    assert _failure(site.run())[0] == "unsupported_table"


def test_a_table_without_its_directory_fails_since_the_disk_may_not_be_mounted() -> None:
    site = TableSite()
    site.add_days("01")
    site.system.files.clear()
    site.system.directories.clear()
    result = site.run()
    assert _failure(result)[0] == "not_found"
    assert site.names == ["ds=2026-03-01"]


def test_data_that_are_gone_already_are_no_failure() -> None:
    site = TableSite()
    site.add_days("01", "02")
    site.system.delete(site.target().table.place(f"file:{BASE}/ds=2026-03-01"), below=site.target().table.place(BASE))  # type: ignore[union-attr]
    assert not_done(site.run()) == [(f"file://{BASE}/ds=2026-03-01", "skipped", "already_gone")]
    assert site.names == []


def test_very_many_partitions_go_in_batches() -> None:
    site = TableSite(keys={"ds": "string", "n": "string"})
    site.metastore.add_partitions(
        site.table.name, [partition_of(site.table, "2026-03-01", f"{number:04}") for number in range(1100)]
    )
    result = site.run()
    assert site.names == []
    assert [len(step.intended) for step in site.recorder.steps if step.intended] == [1000, 1000, 200]
    assert sum(each.outcome is Outcome.DONE for each in result.items) == 1100


def test_another_feed_of_the_table_is_told_of_and_its_holds_count() -> None:
    other = replace(FeedText(name="other").feed(), locations=None, table=DS)
    apart = replace(FeedText(name="apart").feed(), locations=None, table=f"{DS};region=in")
    site = TableSite(uri=f"{DS};region=us", keys={"ds": "string", "region": "string"}, others=(other, apart))
    site.add("2026-03-01", "us")
    result = site.run(holds=[Hold(feed="other", reason="theirs"), Hold(feed="apart", reason="not ours")])
    assert kept(result) == {"ds=2026-03-01/region=us": ("hold", "hold of feed other: theirs")}
    assert result.targets[0].plan.notes == (
        "feed other shares this data and loses what goes here, whatever its own retention; its holds count",
    )


@pytest.mark.parametrize(
    ("day", "decision", "reason", "why"),
    [
        ("01", RetentionDecision.GOES, "old", "its time 2026-03-01T00:00Z is before the horizon 2026-03-10T12:00Z"),
        ("02", RetentionDecision.STAYS, "shared_location", "not its own alone: data of the partition ds=2026-03-19"),
        ("03", RetentionDecision.ABSENT, "absent", "among the partitions of logs.clicks"),
        ("19", RetentionDecision.STAYS, "too_young", "is not before the horizon"),
    ],
)
def test_what_becomes_of_an_instance_is_explained(day: str, decision: RetentionDecision, reason: str, why: str) -> None:
    site = TableSite()
    site.add_days("01", "02")
    site.add("2026-03-19", location=f"{BASE}/ds=2026-03-02/in")
    (target,) = site.run(dry_run=True).targets
    explainer = Explainer(plan=target.plan, place_of=lambda _, key: key, kind_at=lambda _: None)  # type: ignore[arg-type]
    (found,) = explainer.of_instance(parse_instant(f"2026-03-{day}T00:00Z"))
    assert (found.decision, found.reason) == (decision, reason)
    assert why in found.why
