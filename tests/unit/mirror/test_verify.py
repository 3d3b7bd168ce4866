"""Verification of a snapshot mirror, on two HDFS in memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.unit.mirror.memory_hdfs import MemorySnapshots
from tests.unit.mirror.site import RULES, SOURCE, TARGET, Site
from toolkit.actions.verification import BEING_COPIED, NOTHING_TO_COMPARE, TreeVerifier, VerifiedInstance, VerifyStatus
from toolkit.mirror.model import ARRANGED
from toolkit.mirror.verify import verify_snapshot_mirror
from toolkit.rendering.verify import verification_document, verification_exit
from toolkit.result import ExitCode
from toolkit.transfer.trees import below

_KEY = "2026-03-01T05:00Z"


def _verified(site: Site, check: Callable[[], None] = lambda: None) -> VerifiedInstance:
    stores = {SOURCE.authority: site.one, TARGET.authority: site.two}
    verifier = TreeVerifier(storage=lambda path: stores[path.authority], check=check)
    return verify_snapshot_mirror(site.planner, ("one", "two"), _KEY, verifier)


@pytest.fixture
def mirrored() -> Site:
    site = Site()
    for name in ("a/f", "a/g", "b/in/h", "empty/keep"):
        site.one.mkdirs(below(SOURCE, name).parent)
        site.one.write(below(SOURCE, name), [name.encode()])
    site.mirror(0)
    site.mirror(1)
    return site


def test_an_equal_target_is_well_whatever_the_source_is_now(mirrored: Site) -> None:
    mirrored.one.delete(below(SOURCE, "a"), below=SOURCE)
    found = _verified(mirrored)
    assert (found.is_well, found.files, found.by_source, found.bytes) == (True, 4, 4, 22)
    assert (found.target.instance_key, found.target.cluster, found.target.counterpart) == (
        "2026-03-01T01:00Z",
        "two",
        "one",
    )
    assert verification_exit([found]) is ExitCode.DONE


def test_what_differs_is_named(mirrored: Site) -> None:
    two = mirrored.two
    two.delete(below(TARGET, "a/f"), below=TARGET)
    two.write(below(TARGET, "a/f"), [b"A/f"])  # as many bytes
    two.delete(below(TARGET, "a/g"), below=TARGET)
    two.delete(below(TARGET, "b"), below=TARGET)
    two.mkdirs(below(TARGET, "more"))
    two.write(below(TARGET, "more/x"), [b"x"])
    found = _verified(mirrored)
    assert [(each.path.relative_to(TARGET), each.status) for each in found.findings] == [
        ("a/f", VerifyStatus.DIFFERENT),
        ("a/g", VerifyStatus.MISSING),
        ("b", VerifyStatus.MISSING),
        ("b/in", VerifyStatus.MISSING),
        ("b/in/h", VerifyStatus.MISSING),
        ("more", VerifyStatus.EXTRA),
        ("more/x", VerifyStatus.EXTRA),
    ]
    assert verification_exit([found]) is ExitCode.PARTIAL
    assert verification_document("sales", [found])["feed"] == "sales"


def test_a_file_where_a_directory_was_is_missing_and_extra(mirrored: Site) -> None:
    mirrored.two.delete(below(TARGET, "a"), below=TARGET)
    mirrored.two.write(below(TARGET, "a"), [b""])
    assert {(each.path.relative_to(TARGET), each.status) for each in _verified(mirrored).findings} == {
        ("a", VerifyStatus.MISSING),
        ("a", VerifyStatus.EXTRA),
        ("a/f", VerifyStatus.MISSING),
        ("a/g", VerifyStatus.MISSING),
    }


@pytest.mark.parametrize("is_arranged", [False, True])
def test_a_target_in_the_middle_of_a_run_is_verified_later(mirrored: Site, *, is_arranged: bool) -> None:
    if is_arranged:
        MemorySnapshots(mirrored.two).create(TARGET, f"{mirrored.name(2)}{ARRANGED}")
    else:
        mirrored.two.mkdirs(TARGET.child(RULES.work))
    found = _verified(mirrored)
    assert found.problem is not None
    assert found.problem.code == BEING_COPIED
    assert verification_exit([found]) is ExitCode.NOT_YET


def test_a_run_between_the_two_listings_is_no_difference(mirrored: Site) -> None:
    mirrored.one.write(below(SOURCE, "late"), [b"late"])
    calls = iter([2])

    def check() -> None:
        for hour in calls:
            mirrored.mirror(hour)

    found = _verified(mirrored, check)
    assert found.problem is not None
    assert found.problem.code == BEING_COPIED


def test_a_mirror_that_has_not_run_has_nothing_to_compare() -> None:
    found = _verified(Site())
    assert found.problem is not None
    assert (found.problem.code, found.target.instance_key) == (NOTHING_TO_COMPARE, _KEY)
    assert verification_exit([found]) is ExitCode.FAILED


def test_what_a_store_says_is_the_problem(mirrored: Site) -> None:
    del mirrored.two.taken[TARGET.path]
    found = _verified(mirrored)
    assert found.problem is not None
    assert found.problem.code == "not_snapshottable"
