"""Tests of what waits at a table's gate for partitions goes with them, by the same rules; readers never had it."""

from __future__ import annotations

from tests.unit.retention.tables import BASE, TableSite, done
from tests.unit.runs.fakes import left_item
from toolkit.el import CanonicalPath
from toolkit.entities import Hold
from toolkit.ledger.runs.items import NewItem
from toolkit.ledger.vocabulary import ItemState
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.result import ExitCode, Outcome
from toolkit.storage import PermissionDenied

STAGED = f"{BASE}/.feedctl-staging"
OLD = [f"{STAGED}/ds=2026-03-01/part", f"{STAGED}/ds=2026-03-01.blocked.json", f"{STAGED}/.feedctl-whole-ds=2026-03-01"]
YOUNG = [f"{STAGED}/ds=2026-03-20/part", f"{STAGED}/ds=2026-03-20.blocked.json"]


def filled(site: TableSite) -> None:
    site.add_days("02", "20")
    site.system.put(*OLD, *YOUNG)


def unpublished(site: TableSite) -> list[str]:
    return sorted(each for each in site.system.files if each.startswith(STAGED))


def test_old_blocked_partitions_go_with_what_is_beside_them_and_young_ones_stay() -> None:
    site = TableSite()
    filled(site)
    planned = done(site.run(dry_run=True))
    assert unpublished(site) == sorted([*OLD, *YOUNG])
    result = site.run()
    assert done(result) == planned
    assert planned == [
        "catalog:logs:clicks#ds=2026-03-02",
        f"file://{BASE}/ds=2026-03-02",
        *(
            f"file://{STAGED}/{name}"
            for name in (".feedctl-whole-ds=2026-03-01", "ds=2026-03-01", "ds=2026-03-01.blocked.json")
        ),
    ]
    assert unpublished(site) == sorted(YOUNG)
    assert site.names == ["ds=2026-03-20"]
    assert [each.instance_key for each in site.recorder.events()] == ["2026-03-02T00:00Z"]


def test_what_waits_alone_goes_and_takes_the_directories_of_the_gate_with_it() -> None:
    site = TableSite(keys={"ds": "string", "region": "string"})
    site.system.put(f"{STAGED}/ds=2026-03-01/region=us/part", f"{STAGED}/ds=2026-03-01/region=us.blocked.json")
    assert len(done(site.run())) == 2
    assert site.directories == []
    assert not site.recorder.events()


def test_a_hold_keeps_what_waits_and_a_name_that_does_not_conform_stays_and_is_told() -> None:
    site = TableSite()
    filled(site)
    site.system.put(f"{STAGED}/month=3/part")
    site.run(holds=[Hold(feed="clicks", reason="audit")])
    assert len(unpublished(site)) == 6
    result = site.run()
    assert unpublished(site) == sorted([*YOUNG, f"{STAGED}/month=3/part"])
    (target,) = result.targets
    assert target.plan.detail.unrecognized.count == 1
    assert "is staged data" in target.plan.detail.unrecognized.sample[0][1]


def test_a_limit_counts_what_waits_and_a_plan_that_is_over_it_removes_nothing() -> None:
    site = TableSite()
    filled(site)
    result = site.run(limits=DeleteLimits(instances=1))
    assert result.exit_code is ExitCode.REFUSED
    assert unpublished(site) == sorted([*OLD, *YOUNG])


def test_what_a_killed_run_had_begun_of_it_is_settled_by_what_is_there() -> None:
    site = TableSite()
    filled(site)
    paths = [f"file://{STAGED}/ds=2026-02-01", f"file://{STAGED}/ds=2026-03-01"]
    left = [
        left_item(NewItem(position=at, kind="gated:data", path=path, instance_key="2026-03-01T00:00Z"), 7)
        for at, path in enumerate(paths)
    ]
    site.run(left=left)
    settled = {each.item.position: each.item.state for each in site.recorder.settled_left}
    assert settled == {0: ItemState.DONE, 1: ItemState.FAILED}
    assert unpublished(site) == sorted(YOUNG)


def test_what_cannot_be_removed_fails_the_run_and_is_found_again() -> None:
    site = TableSite()
    filled(site)

    def broken(call: str, path: str) -> None:
        if call == "delete" and path == f"{STAGED}/ds=2026-03-01":
            raise PermissionDenied(path=CanonicalPath.parse(f"file://{path}"))

    site.system.broken = broken
    result = site.run()
    assert [each.item.uri for each in result.items if each.outcome is Outcome.FAILED] == [
        f"file://{STAGED}/ds=2026-03-01"
    ]
    assert result.exit_code is ExitCode.PARTIAL
