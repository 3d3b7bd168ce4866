"""Parts that a source no longer has: kept and named, or removed within the limits; an empty source removes nothing."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.integration.replications import KEYS, End, Replication, hour, outcomes
from toolkit.actions.verification import VerifyStatus

INSTANCE = "clicks/2026-03-01-00"
ONE = ("--start", KEYS[0])
DELETE = ", on_source_delete: delete"


def local(path: Path) -> End:
    """A directory on this disk."""
    path.mkdir(exist_ok=True)
    return End(uri=f"file://{path}")


@pytest.fixture
def copying(tmp_path: Path) -> Replication:
    """An instance in the parts `at`, `de` and `fr`, which was copied; then the source drops `fr`."""
    found = Replication(
        directory=tmp_path,
        sources={"primary": local(tmp_path / "from")},
        target=local(tmp_path / "to"),
        more="availability_flag: _SUCCESS\npartitions: [country]",
        partition={"primary": "*"},
    )
    found.sources["primary"].fill(hour(0, ["at/part-0", "de/part-0", "fr/part-0"]))
    assert found.run(time=KEYS[0])[0] == 0
    drop(found, "fr")
    return found


def drop(copying: Replication, *parts: str) -> None:
    """Remove parts at the source."""
    for part in parts:
        shutil.rmtree(Path(copying.sources["primary"].root.path, INSTANCE, part))


def parts(copying: Replication) -> list[str]:
    """The parts that the target has, and the flag."""
    return sorted(each.name for each in Path(copying.target.root.path, INSTANCE).iterdir())


def verified(copying: Replication) -> tuple[int, dict[str, int]]:
    """The exit code of a verification, and what it counted."""
    code, document = copying.feedctl("verify", "clicks")
    (instance,) = document["instances"]
    assert instance["problem"] is None
    return code, {status: number for status, number in instance["counts"].items() if number}


def events(copying: Replication) -> list[str]:
    """The events that consumers received."""
    with sqlite3.connect(copying.directory / "ledger.db") as ledger:
        return [kind for (kind,) in ledger.execute("SELECT kind FROM event")]


def test_a_part_that_the_source_dropped_is_kept_and_named_by_verify(copying: Replication) -> None:
    code, result = copying.run(*ONE, time=KEYS[0])
    assert (code, result["items"], parts(copying)) == (0, [], ["_SUCCESS", "at", "de", "fr"])
    assert verified(copying) == (0, {VerifyStatus.KEPT: 1})
    Path(copying.target.root.path, INSTANCE, "fr/part-0").write_text("changed")
    assert verified(copying) == (4, {VerifyStatus.KEPT: 1, VerifyStatus.DIFFERENT: 1})


def test_a_part_that_was_cleaned_up_at_the_target_too_is_not_missing_and_the_ledger_forgets_it(
    copying: Replication,
) -> None:
    shutil.rmtree(Path(copying.target.root.path, INSTANCE, "fr"))
    assert verified(copying) == (0, {})
    code, result = copying.run(*ONE, time=KEYS[0])
    assert (code, outcomes(result)) == (0, [(KEYS[0], "done", None)])
    assert [item["kind"] for item in result["items"]] == ["remove"]
    assert {Path(each).name for each in copying.recorded(KEYS[0])} == {"at", "de"}
    assert (parts(copying), events(copying)) == (["_SUCCESS", "at", "de"], ["available"])
    assert copying.run(*ONE, time=KEYS[0])[1]["items"] == []
    shutil.rmtree(Path(copying.sources["primary"].root.path, "clicks"))
    assert verified(copying) == (0, {})


def test_with_delete_it_goes_as_the_dry_run_says_and_consumers_are_told(copying: Replication) -> None:
    removing = replace(copying, of_target=DELETE)
    assert verified(removing) == (4, {VerifyStatus.EXTRA: 1})
    code, planned = removing.run("--dry-run", *ONE, time=KEYS[0])
    (item,) = planned["items"]
    assert (code, item["kind"], item["removed"], item["outcome"]) == (0, "remove", 1, "planned")
    assert parts(removing) == ["_SUCCESS", "at", "de", "fr"]
    code, result = removing.run(*ONE, time=KEYS[0])
    assert (code, result["plan_digest"]) == (0, planned["plan_digest"])
    assert (parts(removing), events(removing)) == (["_SUCCESS", "at", "de"], ["available", "updated"])
    assert verified(removing) == (0, {})


@pytest.mark.parametrize(
    ("of_repo", "of_feed"),
    [("instances: 0", ""), ("fraction: 0.3", ""), ("bytes: 10", ""), ("", "fraction: 0.3"), ("", "bytes: 10")],
)
def test_the_limits_of_deletions_refuse_it_and_an_approval_lifts_them_once(
    copying: Replication, of_repo: str, of_feed: str
) -> None:
    more = f"{copying.more}\nmax_delete: {{{of_feed}}}" if of_feed else copying.more
    settings = f"max_delete: {{{of_repo}}}" if of_repo else ""
    removing = replace(copying, of_target=DELETE, more=more, settings=settings)
    _, planned = removing.run("--dry-run", *ONE, time=KEYS[0])
    assert removing.run(*ONE, time=KEYS[0])[0] == 3
    assert parts(removing) == ["_SUCCESS", "at", "de", "fr"]
    assert removing.run(*ONE, "--approve", planned["plan_digest"], time=KEYS[0])[0] == 0
    assert parts(removing) == ["_SUCCESS", "at", "de"]


def test_an_approval_is_not_good_for_other_data_of_the_same_names(copying: Replication) -> None:
    removing = replace(copying, of_target=DELETE, settings="max_delete: {bytes: 10}")
    _, planned = removing.run("--dry-run", *ONE, time=KEYS[0])
    Path(copying.target.root.path, INSTANCE, "fr/part-0").write_bytes(bytes(1_000_000))
    assert removing.run(*ONE, "--approve", planned["plan_digest"], time=KEYS[0])[0] == 3
    assert parts(removing) == ["_SUCCESS", "at", "de", "fr"]


def test_an_empty_or_missing_source_removes_nothing(copying: Replication) -> None:
    removing = replace(copying, of_target=DELETE)
    before = parts(removing)
    for part in ("at", "de"):
        Path(removing.sources["primary"].root.path, INSTANCE, part, "part-0").unlink()
    code, result = removing.run(*ONE, time=KEYS[0])
    assert (code, result["instances"][0]["failure"]["code"], parts(removing)) == (1, "source_empty", before)
    drop(removing, "at", "de")
    code, result = removing.run(*ONE, time=KEYS[0])
    assert (code, result["instances"][0]["failure"]["code"], parts(removing)) == (1, "nothing_selected", before)
    Path(removing.sources["primary"].root.path, INSTANCE, "_SUCCESS").unlink()
    assert (removing.run(*ONE, time=KEYS[0])[0], parts(removing)) == (75, before)


def test_what_was_never_copied_or_is_on_hold_stays(copying: Replication) -> None:
    removing = replace(copying, of_target=DELETE)
    copying.target.fill({f"{INSTANCE}/xx/part-0": b"put there by somebody"})
    (removing.repo / "holds.yaml").write_text(
        "holds:\n  - {feed: clicks, reason: audit, start: 2026-03-01T00:00Z, end: 2026-03-02T00:00Z}\n"
    )
    assert removing.run(*ONE, time=KEYS[0])[0] == 0
    assert parts(removing) == ["_SUCCESS", "at", "de", "fr", "xx"]
    (removing.repo / "holds.yaml").unlink()
    assert removing.run(*ONE, time=KEYS[0])[0] == 0
    assert parts(removing) == ["_SUCCESS", "at", "de", "xx"]


@pytest.mark.parametrize("was_removed", [False, True])
def test_a_part_with_a_file_that_was_never_copied_stays_and_verify_says_why(
    copying: Replication, *, was_removed: bool
) -> None:
    removing = replace(copying, of_target=DELETE)
    if was_removed:
        shutil.rmtree(Path(copying.target.root.path, INSTANCE, "fr"))
    copying.target.fill({f"{INSTANCE}/fr/own": b"made by a job of the target"})
    assert removing.run(*ONE, time=KEYS[0])[0] == 0
    assert parts(removing) == ["_SUCCESS", "at", "de", "fr"]
    code, document = removing.feedctl("verify", "clicks")
    output = [each["message"] for each in document["instances"][0]["differences"] if each["path"].endswith("/fr")]
    assert (code, len(output)) == (4, 1)
    assert "no replication removes it" in output[0]


def test_a_name_that_is_no_directory_any_more_at_the_source_is_not_taken_for_dropped(copying: Replication) -> None:
    removing = replace(copying, of_target=DELETE)
    removing.sources["primary"].fill({f"{INSTANCE}/fr": b"a file"})
    assert removing.run(*ONE, time=KEYS[0])[0] == 0
    assert parts(removing) == ["_SUCCESS", "at", "de", "fr"]
