"""Instances in quarantine: they come back as they were, whoever dies when, and only what was evicted is ever purged."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.soak.chance import seeded
from tests.unit.retention import archiving
from tests.unit.retention import test_archive as archive
from tests.unit.retention.archiving import Dead, Dying
from tests.unit.retention.quarantining import DAY, LATER, OLD_ONLY, evict, feed, fill, manifests, own, restore, tree
from tests.unit.retention.test_writers import Held
from tests.unit.runs.fakes import MemoryRecorder
from toolkit.el import CanonicalPath
from toolkit.entities import ExpiryAction, Hold, Locations, ProtectionName
from toolkit.retention import RetentionResult
from toolkit.retention.protection import Protector, all_needed
from toolkit.retention.restorable import RestoreChoice
from toolkit.storage import FileSystem, LocalFileSystem, NotFound

OLD, OLDER, YOUNG = "2026/03/01", "2026/02/28", "2026/03/15"
FOLDER = "data/.feedctl/quarantine/clicks"


def outcomes(result: RetentionResult, kind: str = "instance") -> list[tuple[str, str]]:
    return [(each.outcome.value, each.code) for each in result.items if each.item.type == kind]


def events(recorder: MemoryRecorder) -> list[tuple[str, str]]:
    return [(event.kind.value, event.instance_key) for event in recorder.events()]


def edit(manifest: Path, **fields: object) -> None:
    """Change each manifest of a list, and keep the time at which it was written."""
    found: dict[str, dict[str, Any]] = json.loads(manifest.read_text())["instances"]
    before = manifest.stat()
    manifest.write_text(json.dumps({"instances": {key: each | fields for key, each in found.items()}}))
    os.utime(manifest, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_an_evicted_instance_comes_back_as_it_was_with_the_directories_that_it_was_in(tmp_path: Path) -> None:
    fill(tmp_path, OLDER, OLD, YOUNG)
    before = tree(tmp_path)
    assert outcomes(evict(feed(tmp_path))) == [("done", ""), ("done", "")]
    assert set(tree(tmp_path)) == {name for name in before if name in {"data/2026", "data/2026/03"} or YOUNG in name}
    result = restore(feed(tmp_path))
    assert (result.exit_code, outcomes(result, "restored")) == (0, [("done", ""), ("done", "")])
    assert tree(tmp_path) == before
    assert manifests(tmp_path) == []


def test_a_dry_run_says_where_to_and_touches_nothing(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    before = tree(tmp_path)
    (item,) = [each.item for each in evict(feed(tmp_path), dry_run=True).items]
    assert str(item.quarantine) == f"file://{tmp_path}/{FOLDER}"
    assert str(item.quarantine) in item.identity
    evict(feed(tmp_path))
    during = own(tmp_path)
    assert outcomes(restore(feed(tmp_path), dry_run=True), "restored") == [("planned", "")]
    assert own(tmp_path) == during
    restore(feed(tmp_path))
    assert tree(tmp_path) == before


def test_nothing_is_purged_before_its_time_and_all_of_it_after(tmp_path: Path) -> None:
    fill(tmp_path, OLD, YOUNG)
    evict(feed(tmp_path))
    again = evict(feed(tmp_path), run_name="3")
    assert ([*again.items], len(manifests(tmp_path))) == ([], 1)
    assert "1 instances are in quarantine and take space" in " ".join(again.targets[0].plan.notes)
    purged = evict(feed(tmp_path, limit=OLD_ONLY), nominal=LATER, run_name="4")
    assert outcomes(purged, "quarantined") == [("done", "")]
    assert own(tmp_path) == []


def test_what_the_limit_of_now_keeps_is_not_purged(tmp_path: Path) -> None:
    """A wrong limit was merged, and is corrected before anybody has restored what it took."""
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    result = evict(feed(tmp_path, limit="months(1200)"), nominal=LATER, run_name="3")
    assert [*result.items] == []
    assert "would be kept by the retention of now" in " ".join(result.targets[0].plan.notes)
    assert outcomes(restore(feed(tmp_path)), "restored") == [("done", "")]


def test_a_hold_keeps_what_is_in_quarantine_from_the_purge_and_not_from_the_way_back(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    hold = Hold(feed="clicks", reason="audit")
    result = evict(feed(tmp_path), nominal=LATER, run_name="3", holds=[hold])
    assert ([*result.items], len(manifests(tmp_path))) == ([], 1)
    (tmp_path / "data/.feedctl-hold").write_text("audit")
    assert [*evict(feed(tmp_path), nominal=LATER, run_name="4").items] == []
    assert outcomes(restore(feed(tmp_path)), "restored") == [("done", "")]


def test_the_longer_time_counts_also_when_the_feed_deletes_at_once_by_now(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    (manifest,) = manifests(tmp_path)
    edit(manifest, purge_at="2095-01-01T00:00:00+00:00")
    by_now = feed(tmp_path, action=ExpiryAction.DELETE)
    assert [*evict(by_now, nominal=LATER, run_name="3").items] == []
    edit(manifest, purge_at="2027-01-01T00:00:00+00:00")
    assert outcomes(evict(by_now, nominal=LATER, run_name="4"), "quarantined") == [("done", "")]


def test_a_manifest_that_says_the_past_does_not_bring_the_purge_forward(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    (manifest,) = manifests(tmp_path)
    edit(manifest, purge_at="2000-01-01T00:00:00+00:00", quarantined_at="2000-01-01T00:00:00+00:00")
    assert [*evict(feed(tmp_path), run_name="3").items] == []


@pytest.mark.parametrize(
    "fields",
    [
        {"path": "file:///etc/passwd"},
        {"path": "../../../../etc"},
        {"feed": "orders"},
        {"location": "stats"},
        {"schema_version": 2},
        {"quarantined_at": "2026-01-01T00:00:00"},
        {"parents": [1, None]},
        {"instance": 7},
        {"path": "file:///\ud800"},
        {"availability_flag": "../../x"},
        {"content": [1]},
        {"parents": [{"permission": 0, "owner": "a\0b", "group": None, "acl": []}] * 2},
        {"parents": [{"permission": 0, "owner": None, "group": None, "acl": ["\ud800"]}] * 2},
    ],
)
def test_a_manifest_that_is_about_something_else_than_its_place_has_no_effect(
    tmp_path: Path, fields: dict[str, object]
) -> None:
    fill(tmp_path, OLD, YOUNG)
    evict(feed(tmp_path))
    (manifest,) = manifests(tmp_path)
    edit(manifest, **fields)
    before = own(tmp_path), tree(tmp_path)
    purge = evict(feed(tmp_path, limit=OLD_ONLY), nominal=LATER, run_name="3")
    back = restore(feed(tmp_path))
    assert (own(tmp_path), tree(tmp_path)) == before
    assert ([*purge.items], [*back.items]) == ([], [])
    assert "not purged, the first" in " ".join(purge.targets[0].plan.notes)


def test_a_manifest_of_a_young_instance_does_not_take_it(tmp_path: Path) -> None:
    """Its path is one of the feed's, but the manifest is not in the place of that path."""
    fill(tmp_path, OLD, YOUNG)
    evict(feed(tmp_path))
    (manifest,) = manifests(tmp_path)
    edit(manifest, path=f"file://{tmp_path}/data/{YOUNG}")
    before = tree(tmp_path)
    evict(feed(tmp_path, limit=OLD_ONLY), nominal=LATER, run_name="3")
    restore(feed(tmp_path))
    assert tree(tmp_path) == before


def test_a_link_in_the_place_of_the_quarantine_leads_nowhere(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    before, elsewhere = tree(tmp_path), tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "data/.feedctl").symlink_to(elsewhere)
    assert outcomes(evict(feed(tmp_path))) == [("failed", "symlink_refused")]
    assert (tree(tmp_path), [*elsewhere.iterdir()]) == (before | {}, [])


def test_a_link_to_other_data_in_quarantine_is_not_followed_by_a_purge(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    quarantine, elsewhere = tmp_path / FOLDER, tmp_path / "elsewhere"
    quarantine.rename(elsewhere)
    quarantine.symlink_to(elsewhere)
    during = own(tmp_path), sorted(elsewhere.rglob("*"))
    evict(feed(tmp_path), nominal=LATER, run_name="3")
    assert (own(tmp_path), sorted(elsewhere.rglob("*"))) == during


@pytest.mark.parametrize("place", [FOLDER, "data/.feedctl/quarantine"])
def test_a_restore_takes_nothing_through_a_link(tmp_path: Path, place: str) -> None:
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    quarantine, elsewhere = tmp_path / place, tmp_path / "elsewhere"
    quarantine.rename(elsewhere)
    quarantine.symlink_to(elsewhere)
    during = sorted(elsewhere.rglob("*"))
    assert outcomes(restore(feed(tmp_path)), "restored") == [("failed", "symlink_refused")]
    assert sorted(elsewhere.rglob("*")) == during


def test_an_owner_that_this_machine_does_not_know_keeps_nothing_from_its_way_back(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    (manifest,) = manifests(tmp_path)
    edit(manifest, parents=[{"permission": 0o751, "owner": "left-long-ago", "group": None, "acl": []}] * 2)
    (result,) = restore(feed(tmp_path)).items
    assert (result.outcome.value, "not as they were" in result.message) == ("done", True)
    assert (tmp_path / "data" / OLD / "part-0").exists()


class Repeating(LocalFileSystem):
    """A store whose client repeats a rename of which it got no answer, and is told that nothing is there."""

    def rename(self, source: CanonicalPath, target: CanonicalPath) -> None:
        super().rename(source, target)
        raise NotFound(path=source)


def test_a_move_that_was_repeated_leaves_the_manifest_beside_the_data(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    before = tree(tmp_path)
    assert outcomes(evict(feed(tmp_path), system=Repeating())) == [("done", "")]
    assert outcomes(restore(feed(tmp_path)), "restored") == [("done", "")]
    assert tree(tmp_path) == before


def test_an_instance_with_statistics_is_announced_when_it_is_back(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    (tmp_path / "stats" / OLD).mkdir(parents=True)
    of, recorder = feed(tmp_path), MemoryRecorder()
    both = replace(of, locations=Locations(data=f"{tmp_path}/data/{DAY}", stats=f"{tmp_path}/stats/{DAY}"))
    assert outcomes(evict(both, recorder=recorder)) == [("done", "")] * 2
    assert outcomes(restore(both, recorder=recorder), "restored") == [("done", "")] * 2
    assert [kind for kind, _ in events(recorder)] == ["evicted", "available"]


def test_a_purge_looks_into_the_quarantine_of_each_location(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    (tmp_path / "stats" / OLD).mkdir(parents=True)
    locations = Locations(data=f"{tmp_path}/data/{DAY}", stats=f"{tmp_path}/stats/{DAY}")
    evict(replace(feed(tmp_path), locations=locations))
    later = replace(feed(tmp_path, limit=OLD_ONLY), locations=locations)
    assert outcomes(evict(later, nominal=LATER, run_name="3"), "quarantined") == [("done", "")] * 2
    assert manifests(tmp_path) == []


def test_what_a_protection_keeps_by_now_is_not_purged(tmp_path: Path) -> None:
    """A process that failed since its input was evicted is found out before the purge."""
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    protector = Protector(
        feed="clicks",
        cluster="primary",
        name=ProtectionName.UNREAD_CONSUMERS,
        instances=feed(tmp_path).instances_on("primary"),
        timezone="UTC",
        needed=all_needed("sums of it failed"),
    )
    result = evict(feed(tmp_path, limit=OLD_ONLY), nominal=LATER, run_name="3", needed=[protector])
    assert ([*result.items], len(manifests(tmp_path))) == ([], 1)
    assert "would be kept by the retention of now" in " ".join(result.targets[0].plan.notes)


def test_a_restore_waits_for_a_run_that_writes_the_instance(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    held = Held(key="2026-03-01T00:00Z")
    assert outcomes(restore(feed(tmp_path), outputs=held), "restored") == [("skipped", "lease_held")]
    assert not (tmp_path / "data" / OLD).exists()
    assert outcomes(restore(feed(tmp_path)), "restored") == [("done", "")]


def test_an_occupied_place_is_refused_and_both_stay(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    fill(tmp_path, OLD)
    before = tree(tmp_path), own(tmp_path)
    assert outcomes(restore(feed(tmp_path)), "restored") == [("failed", "already_exists")]
    assert (tree(tmp_path), own(tmp_path)) == before


def test_of_two_evictions_of_one_instance_the_last_comes_back_or_the_one_that_is_named(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    evict(feed(tmp_path))
    os.utime(manifests(tmp_path)[0], (1_700_000_000, 1_700_000_000))
    (tmp_path / "data" / OLD).mkdir(parents=True)
    (tmp_path / "data" / OLD / "rerun").write_text("rerun")
    evict(feed(tmp_path), run_name="3")
    result = restore(feed(tmp_path), dry_run=True)
    assert [each.item.quarantine.parent.name for each in result.items if each.item.quarantine] == ["3"]
    assert "1 older versions" in " ".join(result.targets[0].plan.notes)
    assert outcomes(restore(feed(tmp_path), RestoreChoice(run="1")), "restored") == [("done", "")]
    assert (tmp_path / "data" / OLD / "part-0").exists()


def test_an_instance_is_chosen_by_its_time(tmp_path: Path) -> None:
    fill(tmp_path, OLD, OLDER)
    evict(feed(tmp_path))
    restore(feed(tmp_path), RestoreChoice(instance_key="2026-03-01T00:00Z"))
    assert ((tmp_path / "data" / OLD).exists(), (tmp_path / "data" / OLDER).exists()) == (True, False)


def test_consumers_are_told_that_an_instance_went_and_that_it_came_back(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    recorder = MemoryRecorder()
    evict(feed(tmp_path), recorder=recorder)
    restore(feed(tmp_path), recorder=recorder)
    key = "2026-03-01T00:00Z"
    assert events(recorder) == [("evicted", key), ("available", key)]


def test_an_instance_without_its_flag_comes_back_and_is_not_announced(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    (tmp_path / "data" / OLD / "_SUCCESS").unlink()
    recorder = MemoryRecorder()
    evict(feed(tmp_path), recorder=recorder)
    restore(feed(tmp_path), recorder=recorder)
    assert [kind for kind, _ in events(recorder)] == ["evicted"]


def test_others_than_the_user_of_the_run_do_not_get_into_the_quarantine(tmp_path: Path) -> None:
    fill(tmp_path, OLD)
    (tmp_path / "data/2026/03").chmod(0o700)
    evict(feed(tmp_path))
    assert (tmp_path / FOLDER).stat().st_mode & 0o777 == 0o700


def died(effects: int, act: Callable[[FileSystem], object]) -> bool:
    """Do something that dies before so many effects; return whether it did."""
    try:
        act(Dying(effects))
    except Dead:
        return True
    return False


def crash_round(root: Path, days: list[str], evicting: int, purging: int, restoring: int) -> None:
    """Evict, restore and purge, and die in the middle of each: an instance is always whole, in one of two places."""
    fill(root, *days, YOUNG)
    before = tree(root)
    died(evicting, lambda disk: evict(feed(root), system=disk))
    for day in days:
        (place,) = [each for each in (root / "data" / day, *root.rglob(f"*{day.replace('/', '-')}*")) if each.is_dir()]
        assert (place / "_SUCCESS").read_text() == f"{day} _SUCCESS"
    assert evict(feed(root), run_name="2").exit_code == 0
    assert not any((root / "data" / day).exists() for day in days)
    died(restoring, lambda disk: restore(feed(root), system=disk, run_name="3"))
    assert restore(feed(root), run_name="4").exit_code == 0
    assert tree(root) == before
    assert not any(each.with_suffix("").exists() for each in manifests(root))  # one of a killed run may be left
    evict(feed(root), run_name="5")
    died(purging, lambda disk: evict(feed(root, limit=OLD_ONLY), system=disk, nominal=LATER, run_name="6"))
    evict(feed(root, limit=OLD_ONLY), nominal=LATER, run_name="7")
    assert evict(feed(root, limit=OLD_ONLY), nominal=LATER, run_name="8").exit_code == 0
    assert {name: each for name, each in tree(root).items() if YOUNG in name} == {
        name: each for name, each in before.items() if YOUNG in name
    }
    assert not any("part-0" in name for name in own(root))


def test_a_run_that_dies_before_any_of_its_effects_can_be_run_again(tmp_path: Path) -> None:
    for effects in range(14):
        crash_round(tmp_path / str(effects), [OLD], effects, effects, effects)


@pytest.mark.parametrize(
    "rounds",
    [pytest.param(5, marks=pytest.mark.extended), pytest.param(100, marks=[pytest.mark.soak, pytest.mark.timeout(0)])],
)
def test_random_trees_survive_random_deaths(tmp_path: Path, rounds: int) -> None:
    chance = seeded()
    for number in range(rounds):
        days = [f"2026/{month:02}/{day:02}" for month in (1, 2) for day in range(1, 28) if chance.random() < 0.2]
        root = tmp_path / str(number)
        crash_round(root, days or [OLD], chance.randrange(60), chance.randrange(60), chance.randrange(60))
        shutil.rmtree(root)


def test_a_feed_that_archives_by_now_archives_although_something_is_in_quarantine(tmp_path: Path) -> None:
    """The same plan purges the quarantine, and an archived instance is not merely deleted."""
    fill(tmp_path, OLDER)
    evict(feed(tmp_path))
    archive.fill(tmp_path, OLD)
    of = archiving.feed(tmp_path)
    assert archive.outcomes(archive.run(tmp_path, of)) == [("done", "")]
    assert archive.seen(tmp_path, "archive") == archiving.FILES
