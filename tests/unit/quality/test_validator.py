"""Tests of what passes the gate, and that nothing does without a verdict on exactly this data."""

from __future__ import annotations

import os
import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest

from tests.unit.quality.validators import (
    BLOCKS,
    NOON,
    NOT_NULL,
    ROWS,
    SUITE,
    WARNS,
    CopyingStore,
    ValidatorBench,
    nothing,
)
from toolkit.actions.staged_unit import staging_place
from toolkit.actions.validation import QualityFailed, TableReading
from toolkit.entities.quality import Expectation, Quality
from toolkit.errors import StopRequested
from toolkit.ledger import validations
from toolkit.ledger.database import Ledger
from toolkit.ledger.validations import NewValidationResult, ValidationResult
from toolkit.ledger.vocabulary import ValidationState
from toolkit.quality.validator import NoValidatorAnswer
from toolkit.rendering.quality import history_rows, validation_lines
from toolkit.storage import NotFound


@pytest.fixture
def bench(tmp_path: Path, sqlite_ledger: Ledger) -> ValidatorBench:
    return ValidatorBench(root=tmp_path, ledger=sqlite_ledger)


def result(bench: ValidatorBench) -> ValidationResult:
    """The only one, or the newest."""
    assert bench.ledger is not None
    (found,) = bench.ledger.read(lambda tx: validations.newest_of(tx, "clicks", instance_key=NOON))
    return found


def blocked(bench: ValidatorBench, code: str = "quality_failed") -> str:
    with pytest.raises(QualityFailed) as caught:
        bench.validator.validate(bench.written, nothing)
    assert caught.value.code == code
    return str(caught.value)


def decide(bench: ValidatorBench, state: ValidationState) -> None:
    assert bench.ledger is not None
    found = result(bench)
    bench.ledger.write(
        lambda tx: validations.decide(tx, found.verdict_id, state, found.data_digest, who="ann", reason="late feed")
    )


def test_what_holds_is_admitted_and_remembered(bench: ValidatorBench) -> None:
    publishable = bench.validator.validate(bench.written, nothing)
    found = result(bench)
    assert (found.state, found.rows, found.files, found.bytes) == (ValidationState.PASSED, 10, 1, 3)
    assert (found.entity, found.page, publishable.digest) == ("clicks_job", "file:///pages/1.html", found.data_digest)
    assert publishable.notes == ()


def test_what_does_not_hold_is_blocked_and_says_why(bench: ValidatorBench) -> None:
    bench.process.failing = [NOT_NULL]
    message = blocked(bench)
    assert "1 of 2 expectations do not hold" in message
    assert f"{NOT_NULL}(user), 3 of 10 rows" in message
    assert f"feedctl quality show clicks --time {NOON}" in message
    assert "joe" not in message
    assert result(bench).state is ValidationState.BLOCKED


def test_the_severity_of_the_suite_counts_and_not_that_of_the_answer(bench: ValidatorBench) -> None:
    bench.process.failing = [ROWS]
    publishable = bench.validator.validate(bench.written, nothing)
    assert result(bench).state is ValidationState.WARNED
    assert "[warning]" in publishable.notes[0]


def test_the_same_data_are_judged_once(bench: ValidatorBench) -> None:
    bench.validator.validate(bench.written, nothing)
    bench.validator.validate(bench.written, nothing)
    assert len(bench.process.questions) == 1


def test_blocked_data_stay_blocked_without_being_judged_again(bench: ValidatorBench) -> None:
    bench.process.failing = [NOT_NULL]
    blocked(bench)
    bench.process.failing = []
    blocked(bench)
    assert len(bench.process.questions) == 1


@pytest.mark.parametrize("change", ["time", "size", "name", "more"])
def test_a_verdict_does_not_hold_for_data_that_changed_since(bench: ValidatorBench, change: str) -> None:
    bench.validator.validate(bench.written, nothing)
    file = bench.write("part-0", b"one!" if change == "size" else b"one")
    if change == "time":
        os.utime(file, ns=(1, 1))
    elif change == "name":
        file.rename(file.with_name("part-1"))
    elif change == "more":
        bench.write("part-2", b"")
    assert not bench.validator.may_publish(bench.written)
    bench.process.failing = [NOT_NULL]
    blocked(bench)


def test_flags_and_hidden_files_are_no_data(bench: ValidatorBench) -> None:
    bench.validator.validate(bench.written, nothing)
    for name in ("_SUCCESS", ".part-0.crc", "_temporary/0/part"):
        bench.write(name, b"")
    assert bench.validator.may_publish(bench.written)
    bench.write("_day=1/part-1", b"")
    assert not bench.validator.may_publish(bench.written)


@pytest.mark.parametrize(
    "change",
    [
        replace(BLOCKS, sample=0.5),
        replace(BLOCKS, options={"header": "true"}),
        replace(BLOCKS, on_failure=BLOCKS.on_failure, suites=("clicks", "more")),
    ],
)
def test_data_that_would_be_judged_otherwise_are_judged_again(bench: ValidatorBench, change: Quality) -> None:
    bench.validator.validate(bench.written, nothing)
    bench.quality = change
    bench.suites = {**bench.suites, "more": replace(SUITE, name="more")}
    assert not bench.validator.may_publish(bench.written)


def test_a_suite_that_changed_judges_again(bench: ValidatorBench) -> None:
    bench.validator.validate(bench.written, nothing)
    bench.suites = {"clicks": replace(SUITE, expectations=(*SUITE.expectations, Expectation(type=ROWS)))}
    bench.validator.validate(bench.written, nothing)
    assert len(bench.process.questions) == 2


def test_what_a_feed_only_wanted_to_be_told_of_blocks_when_it_wants_more(bench: ValidatorBench) -> None:
    bench.quality, bench.process.failing = WARNS, [NOT_NULL]
    assert "do not hold" in bench.validator.validate(bench.written, nothing).notes[0]
    assert bench.validator.may_publish(bench.written)
    bench.quality = BLOCKS
    assert not bench.validator.may_publish(bench.written)
    blocked(bench)


@pytest.mark.parametrize("name", ["sub/part-1", "day=1/part-1", "day=1/sub/part-1", "part-1._COPYING_"])
def test_files_that_spark_would_leave_out_are_judged_by_nobody(bench: ValidatorBench, name: str) -> None:
    bench.write(name, b"not looked at")
    assert name in blocked(bench, "quality_unknown")
    assert not bench.process.questions


def test_partitions_are_read_whole(bench: ValidatorBench) -> None:
    bench.write("part-0", b"").unlink()
    for name in ("day=1/hour=1/part-0", "day=1/hour=2/part-0", "day=2/hour=1/part-0"):
        bench.write(name, b"one")
    assert bench.validator.validate(bench.written, nothing).notes == ()


def test_of_a_table_nobody_judges_what_lies_in_directories_of_its_partitions(bench: ValidatorBench) -> None:
    (Path(staging_place(bench.unit).path) / "part-0").unlink()
    bench.write("day=1/part-0", b"one")
    table = TableReading(format="orc", columns={"id": "int"}, keys={})
    with pytest.raises(QualityFailed, match="not every reader looks"):
        bench.validator.validate(replace(bench.written, table=table), nothing)
    assert bench.process.questions == []
    bench.validator.validate(bench.written, nothing)


def test_nobody_judges_what_links_lead_to(bench: ValidatorBench) -> None:
    elsewhere = bench.root / "elsewhere"
    elsewhere.write_bytes(b"changes as it likes")
    bench.write("part-0", b"").with_name("part-1").symlink_to(elsewhere)
    assert "part-1 is no file but a symlink" in blocked(bench, "quality_unknown")


@pytest.mark.parametrize("option", ["pathGlobFilter", "MODIFIEDAFTER", "path"])
def test_options_do_not_choose_the_files_that_are_judged(bench: ValidatorBench, option: str) -> None:
    bench.quality = replace(BLOCKS, options={option: "part-1*"})
    assert f"the option {option} reads other files" in blocked(bench, "quality_unknown")
    assert not bench.process.questions


def test_rows_that_are_announced_are_judged_and_not_dropped(bench: ValidatorBench) -> None:
    bench.quality = replace(BLOCKS, options={"Mode": "dropMalformed"})
    assert "drops rows that are announced" in blocked(bench, "quality_unknown")
    assert not bench.process.questions


def test_a_suite_that_is_not_there_takes_no_verdict_of_the_others(bench: ValidatorBench) -> None:
    bench.validator.validate(bench.written, nothing)
    bench.quality = replace(BLOCKS, suites=("clicks", "broken"))
    assert not bench.validator.may_publish(bench.written)
    assert "there is no suite broken" in blocked(bench, "quality_unknown")


def test_data_that_change_while_they_are_judged_have_no_verdict(bench: ValidatorBench) -> None:
    def more() -> None:
        bench.write("part-1", b"more")

    bench.process.before = more
    assert "changed while they were validated" in blocked(bench, "quality_unknown")
    assert result(bench).state is ValidationState.UNKNOWN
    bench.process.before = nothing
    bench.validator.validate(bench.written, nothing)


def test_data_that_go_while_they_are_judged_have_no_verdict(bench: ValidatorBench) -> None:
    bench.process.before = lambda: shutil.rmtree(bench.root / "clicks")
    with pytest.raises(NotFound):
        bench.validator.validate(bench.written, nothing)


def test_an_answer_that_lacks_a_finding_is_none(bench: ValidatorBench) -> None:
    bench.process.cut = 1
    assert "of 2 expectations 1 were answered" in blocked(bench, "quality_unknown")
    bench.process.cut = None
    bench.validator.validate(bench.written, nothing)


def test_what_cannot_be_judged_blocks_and_is_tried_again(bench: ValidatorBench) -> None:
    bench.process.error = NoValidatorAnswer(why="it was killed")
    assert "it was killed" in blocked(bench, "quality_unknown")
    bench.process.error, bench.process.refused = None, "great_expectations is not installed"
    assert "not installed" in blocked(bench, "quality_unknown")
    bench.process.refused = ""
    bench.validator.validate(bench.written, nothing)


def test_a_suite_that_is_not_there_judges_nothing(bench: ValidatorBench) -> None:
    bench.suites = {}
    assert "no suite clicks" in blocked(bench, "quality_unknown")


def test_a_suite_without_expectations_passes_nothing(bench: ValidatorBench) -> None:
    bench.suites = {"clicks": replace(SUITE, expectations=())}
    blocked(bench, "quality_unknown")


def test_a_feed_that_only_wants_to_be_told_goes_on_without_a_judge(bench: ValidatorBench) -> None:
    bench.quality, bench.process.error = WARNS, NoValidatorAnswer(why="it was killed")
    assert "it was killed" in bench.validator.validate(bench.written, nothing).notes[0]
    assert bench.validator.may_publish(bench.written)
    assert result(bench).state is ValidationState.UNKNOWN


def test_a_run_that_must_end_leaves_no_verdict(bench: ValidatorBench) -> None:
    def stop() -> None:
        raise StopRequested

    with pytest.raises(StopRequested):
        bench.validator.validate(bench.written, stop)
    assert bench.ledger is not None
    assert bench.ledger.read(lambda tx: validations.newest_of(tx, "clicks")) == []


def test_what_was_released_passes_for_exactly_this_data(bench: ValidatorBench) -> None:
    bench.process.failing = [NOT_NULL]
    blocked(bench)
    decide(bench, ValidationState.RELEASED)
    assert "released by ann (late feed)" in bench.validator.validate(bench.written, nothing).notes[0]
    bench.write("part-0", b"else")
    blocked(bench)


def test_what_was_rejected_does_not_come_back(bench: ValidatorBench) -> None:
    bench.process.failing = [NOT_NULL]
    blocked(bench)
    decide(bench, ValidationState.REJECTED)
    assert "ann has rejected it (late feed)" in blocked(bench)
    assert not bench.validator.may_publish(bench.written)


def test_a_rename_keeps_the_verdict_and_a_copy_does_where_there_are_no_renames(bench: ValidatorBench) -> None:
    bench.validator.validate(bench.written, nothing)
    place = Path(bench.written.parts[0].place.path)
    place.rename(bench.unit.path)
    moved = bench.written_at(bench.unit)
    assert bench.validator.may_publish(moved)
    os.utime(Path(bench.unit.path) / "part-0", ns=(1, 1))
    assert not bench.validator.may_publish(moved, is_copy=True)
    bench.store = CopyingStore()
    assert bench.validator.may_publish(moved, is_copy=True)


def test_where_it_waits_what_was_written_anew_is_not_what_was_judged_whatever_the_store(bench: ValidatorBench) -> None:
    bench.store = CopyingStore()
    bench.validator.validate(bench.written, nothing)
    os.utime(Path(bench.written.parts[0].place.path) / "part-0", ns=(1, 1))
    assert not bench.validator.may_publish(bench.written)


def test_values_of_private_feeds_are_nowhere(bench: ValidatorBench) -> None:
    bench.tags, bench.process.failing = {"classification": "PII"}, [NOT_NULL]
    blocked(bench)
    assert not bench.process.questions[0][0].shows_values
    assert "joe" not in repr(bench.pages.drawn)
    assert bench.ledger is not None
    number = result(bench).verdict_id
    found = bench.ledger.read(lambda tx: validations.findings_of(tx, [number]))
    assert "joe" not in repr(found)


def test_a_page_that_cannot_be_written_changes_no_verdict(bench: ValidatorBench) -> None:
    bench.pages.error = PermissionError("no")
    bench.validator.validate(bench.written, nothing)
    assert result(bench).page is None


def test_without_a_ledger_nothing_passes_but_with_a_warning(bench: ValidatorBench) -> None:
    bench.ledger = None
    assert "--no-ledger" in blocked(bench, "quality_unknown")
    assert not bench.validator.may_publish(bench.written)
    bench.quality = WARNS
    assert "was not validated" in bench.validator.validate(bench.written, nothing).notes[0]


def test_by_hand_data_are_judged_again_and_nothing_is_admitted(bench: ValidatorBench) -> None:
    validation = bench.validator.validate_by_hand(bench.written, nothing)
    by_hand = validation.result
    assert (by_hand.state, by_hand.is_by_hand, len(validation.findings)) == (ValidationState.PASSED, True, 2)
    assert not bench.validator.may_publish(bench.written)
    bench.validator.validate_by_hand(bench.written, nothing)
    assert len(bench.process.questions) == 2


def test_the_budget_of_the_feed_bounds_the_judging(bench: ValidatorBench) -> None:
    bench.validator.validate(bench.written, nothing)
    assert bench.process.questions[0][1] == 300


def test_what_needs_an_earlier_instance_is_left_out_of_the_first_one_aloud(bench: ValidatorBench) -> None:
    grows = Expectation(type=ROWS, kwargs={"min_value": "${previous.row_count}"})
    bench.suites = {"clicks": replace(SUITE, expectations=(grows,))}
    assert "no earlier instance gives previous.row_count" in bench.validator.validate(bench.written, nothing).notes[0]
    assert result(bench).state is ValidationState.PASSED


def test_what_is_left_out_is_told_of_blocked_data_too_and_stays_in_the_ledger(bench: ValidatorBench) -> None:
    grows = Expectation(type=ROWS, kwargs={"min_value": "${previous.row_count}"})
    bench.suites = {"clicks": replace(SUITE, expectations=(*SUITE.expectations, grows))}
    bench.process.failing = [NOT_NULL]
    assert "no earlier instance gives previous.row_count" in blocked(bench)
    found = result(bench)
    assert bench.ledger is not None
    findings = bench.ledger.read(lambda tx: validations.findings_of(tx, [found.verdict_id]))[found.verdict_id]
    assert [(each.type, each.success, each.error) for each in findings][-1] == (
        ROWS,
        True,
        "left out: no earlier instance gives previous.row_count",
    )
    assert any(line.startswith("  left out  clicks: ") for line in validation_lines(found, findings))
    assert [row[4] for row in history_rows([(found, findings[-1])])] == ["-"]
    assert f"of {len(SUITE.expectations)} expectations" in (found.reason or "")
    blocked(bench)
    assert len(bench.process.questions) == 1, "the same data is not asked for again as long as nothing has changed"


def test_what_was_judged_by_the_rows_of_an_earlier_instance_is_judged_again_when_they_are_others(
    bench: ValidatorBench,
) -> None:
    grows = Expectation(type=ROWS, kwargs={"min_value": "${previous.row_count}"})
    bench.suites = {"clicks": replace(SUITE, expectations=(*SUITE.expectations, grows))}

    def before(rows: int) -> None:
        found = result(bench)
        older = NewValidationResult(**{each.name: getattr(found, each.name) for each in fields(NewValidationResult)})
        older = replace(older, instance_key="2026-03-01T11:00Z", state=ValidationState.PASSED, rows=rows)
        assert bench.ledger is not None
        bench.ledger.write(lambda tx: validations.record(tx, older, []))

    bench.validator.validate(bench.written, nothing)
    for rows, times in ((7, 2), (7, 2), (8, 3)):
        before(rows)
        bench.validator.validate(bench.written, nothing)
        assert len(bench.process.questions) == times
    assert bench.process.questions[-1][0].expectations[-1].kwargs == {"min_value": 8}
    before(9)
    assert bench.validator.may_publish(bench.written), "what is announced stays so"
    bench.process.failing = [NOT_NULL]
    blocked(bench)
    decide(bench, ValidationState.RELEASED)
    before(10)
    bench.validator.validate(bench.written, nothing)
    assert len(bench.process.questions) == 4, "as what a person has decided does"


def test_an_instance_may_be_a_file(bench: ValidatorBench) -> None:
    place = Path(bench.written.parts[0].place.path)
    shutil.rmtree(place)
    place.write_bytes(b"a,b")
    bench.validator.validate(bench.written, nothing)
    place.write_bytes(b"a,b,c")
    assert not bench.validator.may_publish(bench.written)
