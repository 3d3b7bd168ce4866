"""A plan file restricts what a run does, and never adds to it, whatever it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.unit.actions.fake_action import MarkAction, Plan, Result, Scene, outcomes, request
from tests.unit.runs.fakes import MemoryRecorder, item, left_item
from toolkit.actions.action import Recovery, RunContext
from toolkit.actions.approval import BadPlanFile, OtherPlan, PlanApplied, PlanChanged, PlanOutdated
from toolkit.actions.model import Problem
from toolkit.actions.plan_file import PlanFile
from toolkit.actions.plan_item import ItemReview, no_review
from toolkit.el import parse_instant
from toolkit.errors import InvalidInput
from toolkit.ledger.runs.items import Item
from toolkit.ledger.runs.rows import Origin
from toolkit.ledger.vocabulary import RunStatus
from toolkit.result import ExitCode, Status

NOW = datetime(2026, 3, 20, 13, tzinfo=UTC)
TIME = parse_instant("2026-03-20T12:00Z")


class Divisible(MarkAction):
    """Makes marks of a target one without the other."""

    def part(self, plan: Plan, positions: frozenset[int]) -> Plan:
        return replace(plan, items=tuple(each for at, each in enumerate(plan.items) if at in positions))


class Unseen(Divisible):
    """Makes marks, and cannot read the content of the first one."""

    def review(self, plan: Plan, work: RunContext) -> Sequence[ItemReview]:
        del work
        return _with_unseen(plan)


def _with_unseen(plan: Plan) -> Sequence[ItemReview]:
    return [ItemReview(content="unknown (permission_denied)", is_unknown=True), *no_review(plan)[1:]]


def _scene(**todo: int) -> Scene:
    return Scene(action=Divisible(todo=todo))


def _whole(**todo: int) -> Scene:
    return Scene(action=MarkAction(todo=todo))


def _origin(name: str, *, who: str = "alice", changed: str = "") -> Origin:
    if name.startswith("gone"):
        raise InvalidInput(name)
    return Origin(who=who, digest=f"sha256:{name}{'2' if name == changed else ''}", versions="feedctl 1")


def _planned(scene: Scene) -> PlanFile:
    """Return the plan of a scene as it comes from a file."""
    file = PlanFile.of(scene.run(dry_run=True), _origin, NOW)
    return PlanFile.parse("".join(file.lines()).encode())


def _notes(result: Result) -> list[str]:
    return [note for target in result.targets for note in target.plan.notes]


# Apply


def test_a_plan_file_is_read_back_as_it_was_written() -> None:
    scene = _scene(clicks=2, views=0)
    file = _planned(scene)
    assert file == PlanFile.of(scene.run(dry_run=True), _origin, NOW)
    assert (file.user, file.entities) == ("alice", {each: f"sha256:{each}" for each in ("clicks", "primary", "views")})
    assert [len(plan.items) for plan in file.plans] == [2, 0]
    assert file.digest == scene.run(dry_run=True).digest


def test_a_plan_that_is_still_the_same_is_applied() -> None:
    scene = _scene(clicks=2, views=1)
    file = _planned(scene)
    result = scene.run(plan_file=file)
    assert (outcomes(result), result.exit_code) == ([("done", "")] * 3, ExitCode.DONE)
    assert result.digest == file.digest


def test_new_items_are_named_and_left() -> None:
    scene = _scene(clicks=2)
    file = _planned(scene)
    scene.action.todo["clicks"] = 3
    result = scene.run(plan_file=file)
    assert (outcomes(result), result.exit_code) == ([("done", "")] * 2, ExitCode.PARTIAL)
    assert _notes(result) == ["due now, but not in the plan file: mark file:///marks/clicks-2"]
    assert scene.recorder.outcomes[1].status is RunStatus.FAILED


def test_items_that_are_gone_are_named_and_the_others_applied() -> None:
    scene = _scene(clicks=3)
    file = _planned(scene)
    scene.action.done.append("file:///marks/clicks-1")
    result = scene.run(plan_file=file)
    assert (outcomes(result), result.status) == ([("done", "")] * 2, Status.PARTIAL)
    assert _notes(result) == ["in the plan file, but not due in this form now: mark file:///marks/clicks-1"]


def test_a_target_that_cannot_be_divided_is_left_whole() -> None:
    scene = _whole(clicks=3, views=1)
    file = _planned(scene)
    scene.action.done.append("file:///marks/clicks-1")
    result = scene.run(plan_file=file)
    assert (scene.action.done[1:], result.exit_code) == (["file:///marks/views-0"], ExitCode.PARTIAL)
    assert result.targets[0].plan.refused is not None


def test_an_item_whose_content_cannot_be_seen_is_left() -> None:
    """Both the reviewer and the run were told the same, which is nothing."""
    scene = Scene(action=Unseen(todo={"clicks": 2}))
    file = PlanFile.of(scene.run(dry_run=True), _origin, NOW, _with_unseen)
    result = scene.run(plan_file=file)
    assert (scene.action.done, result.exit_code) == (["file:///marks/clicks-1"], ExitCode.PARTIAL)
    unseen = "unknown (permission_denied)"
    assert _notes(result) == [
        f"with other data than in the plan file: mark file:///marks/clicks-0: {unseen}; now {unseen}"
    ]


def test_a_plan_of_which_nothing_is_left_is_refused() -> None:
    for scene in (_scene(clicks=1), _whole(clicks=1)):
        file = _planned(scene)
        scene.run()
        result = scene.run(plan_file=file)
        assert isinstance(result.refusal, PlanOutdated)
        assert (outcomes(result), result.exit_code) == ([], ExitCode.REFUSED)


def test_a_plan_is_applied_once() -> None:
    claimed: list[PlanFile] = []

    def claim(file: PlanFile) -> None:
        if file in claimed:
            raise PlanApplied(when=NOW, who="alice")
        claimed.append(file)

    scene = _scene(clicks=2)
    scene.claim = claim
    file = _planned(scene)
    assert scene.run(plan_file=file).exit_code is ExitCode.DONE
    scene.action.done.clear()
    result = scene.run(plan_file=file)
    assert isinstance(result.refusal, PlanApplied)
    assert (scene.action.done, result.exit_code) == ([], ExitCode.REFUSED)


def test_a_plan_that_is_refused_or_only_looked_at_can_be_applied_later() -> None:
    scene = _scene(clicks=2)
    scene.claim = lambda _: pytest.fail("it was not applied")
    file = _planned(scene)
    assert scene.run(plan_file=file, dry_run=True).exit_code is ExitCode.DONE
    scene.action.most = 1
    assert scene.run(plan_file=file).exit_code is ExitCode.REFUSED
    assert scene.action.done == []


def test_a_target_that_the_file_has_not_is_left() -> None:
    scene = _scene(clicks=1)
    file = _planned(scene)
    scene.action.todo["views"] = 1
    result = scene.run(plan_file=file)
    assert (scene.action.done, result.exit_code) == (["file:///marks/clicks-0"], ExitCode.DONE)
    skipped = result.targets[1].plan.skipped
    assert skipped is not None
    assert skipped.code == "not_in_plan_file"
    assert len(scene.recorder.runs) == 1


def test_a_target_that_the_run_has_not_is_named() -> None:
    scene = _scene(clicks=1, views=2)
    file = _planned(scene)
    del scene.action.todo["views"]
    result = scene.run(plan_file=file)
    assert (scene.action.done, result.exit_code) == (["file:///marks/clicks-0"], ExitCode.PARTIAL)
    assert [note for note in result.request.notes if "views on primary" in note]


def test_a_file_without_any_target_of_the_run_is_refused() -> None:
    file = _planned(_scene(views=2))
    scene = _scene(clicks=1)
    result = scene.run(plan_file=file)
    assert (scene.action.done, result.exit_code) == ([], ExitCode.REFUSED)


def test_a_target_that_fails_has_failed() -> None:
    scene = _scene(clicks=1)
    file = _planned(scene)
    scene.action.problems["clicks"] = {"failed": Problem(code="silent", message="the store is silent")}
    result = scene.run(plan_file=file)
    assert (result.refusal, result.exit_code) == (None, ExitCode.FAILED)


def test_unfinished_items_are_recovered_by_the_whole_plan() -> None:
    """A plan without an instance that is there would make the recovery take it for gone."""
    seen: list[int] = []

    class Watched(Divisible):
        def recover(self, plan: Plan, open_items: Sequence[Item], work: RunContext) -> Recovery:
            seen.append(len(plan.items))
            return super().recover(plan, open_items, work)

    scene = Scene(action=Watched(todo={"clicks": 2}), recorder=MemoryRecorder(left=[left_item(item())]))
    file = _planned(scene)
    scene.action.todo["clicks"] = 3
    scene.run(plan_file=file)
    assert (seen, len(scene.action.done)) == ([3], 2)


# Limits


def test_limits_bind_a_plan_file_and_its_digest_lifts_them() -> None:
    scene = _scene(clicks=3)
    file = _planned(scene)
    scene.action.most = 1
    scene.action.todo["clicks"] = 4
    refused = scene.run(plan_file=file)
    assert str(refused.refusal) == f"too many marks; approve {file.digest}"
    assert isinstance(scene.run(plan_file=file, approve="0" * 64).refusal, PlanChanged)
    assert scene.action.done == []
    scene.run(plan_file=file, approve=file.digest)
    assert len(scene.action.done) == 3


# Refusals


def _require(file: PlanFile, changed: dict[str, Any]) -> None:
    facts = {
        "action": "marking",
        "nominal_time": TIME,
        "environment": None,
        "chosen": {("clicks", "primary")},
        "origin_of": _origin,
        **changed,
    }
    requested = replace(request(), nominal_time=facts["nominal_time"], environment=facts["environment"])
    file.require_same(facts["action"], requested, facts["chosen"], facts["origin_of"])


@pytest.mark.parametrize(
    ("changed", "difference"),
    [
        ({"action": "retention"}, "its action is marking, that of this run is retention"),
        ({"nominal_time": parse_instant("2026-03-21T12:00Z")}, "its time is 2026-03-20T12:00Z"),
        ({"environment": "prod"}, "its environment is none, that of this run is prod"),
        ({"chosen": {("clicks", "backup")}}, "clicks on primary is not chosen"),
        ({"origin_of": lambda name: _origin(name, who="mallory")}, "its user is alice, that of this run is mallory"),
        ({"origin_of": lambda name: _origin(name, changed="clicks")}, "clicks was changed since the plan was made"),
        ({"origin_of": lambda name: _origin(name, changed="primary")}, "primary was changed since the plan was made"),
    ],
)
def test_a_plan_for_another_run_is_refused(changed: dict[str, Any], difference: str) -> None:
    file = _planned(_scene(clicks=1))
    _require(file, {})
    with pytest.raises(OtherPlan) as caught:
        _require(file, changed)
    assert difference in str(caught.value)


def test_an_entity_that_is_gone_is_a_refusal() -> None:
    file = replace(_planned(_scene(clicks=1)), entities={})
    gone = tuple(replace(plan, target=replace(plan.target, entity="gone")) for plan in file.plans)
    with pytest.raises(OtherPlan, match="gone is not in the config repo"):
        _require(replace(file, plans=gone), {})


def _edit(document: dict[str, Any], what: str) -> None:
    target = document["targets"][0]
    edits: dict[str, Callable[[], object]] = {
        "user": lambda: document.update(user="bob"),
        "digest": lambda: document.update(plan_digest="0" * 64),
        "checksum": lambda: document.pop("checksum"),
        "item": target["items"].pop,
        "uri": lambda: target["items"][0].update(uri="file:///harmless"),
        "identity": lambda: target["items"][0].update(identity=["file:///marks/other"]),
        "content": lambda: target["items"][0].update(content="1 file"),
        "reason": lambda: target["items"][0].update(reason="nobody needs it"),
        "number": lambda: target["items"][0].update(identity=[7]),
        "field": lambda: target["items"][0].update(more="x"),
        "target": lambda: target.update(cluster="backup"),
        "note": lambda: target.update(notes=["all is well"]),
        "type": lambda: document.update(targets={}),
        "version": lambda: document.update(schema_version=2),
    }
    edits[what]()


@pytest.mark.parametrize(
    "what",
    [
        "user",
        "digest",
        "checksum",
        "item",
        "uri",
        "identity",
        "content",
        "reason",
        "number",
        "field",
        "target",
        "note",
        "type",
        "version",
    ],
)
def test_an_edited_file_is_refused(what: str) -> None:
    document = json.loads("".join(_planned(_scene(clicks=2)).lines()))
    _edit(document, what)
    with pytest.raises(BadPlanFile):
        PlanFile.parse(json.dumps(document).encode())


@pytest.mark.parametrize("text", [b"", b"[]", b"{", b"null", b"[" * 100_000, b"\xff", b'{"schema_version": 1}'])
def test_a_text_that_is_no_plan_is_refused(text: bytes) -> None:
    with pytest.raises(BadPlanFile):
        PlanFile.parse(text)


def test_a_forged_file_adds_nothing() -> None:
    """A forged file with right digests still gets only items that the run plans by itself."""
    file = _planned(_scene(clicks=1))
    (plan,) = file.plans
    forged = replace(plan.items[0], uri="file:///etc", identity=("file:///etc",))
    misleading = replace(plan.items[0], uri="file:///harmless")
    other = replace(file, plans=(replace(plan, items=(forged, misleading)),))
    scene = _scene(clicks=1)
    result = scene.run(plan_file=PlanFile.parse("".join(other.lines()).encode()))
    assert (scene.action.done, result.exit_code) == ([], ExitCode.REFUSED)


def test_what_is_shown_of_an_item_is_in_the_digest() -> None:
    """A reviewer approves a digest of what they saw."""
    file = _planned(_scene(clicks=1))
    (plan,) = file.plans
    (one,) = plan.items
    for shown in (replace(one, uri="other"), replace(one, kind="other"), replace(one, instance_key="other")):
        assert replace(file, plans=(replace(plan, items=(shown,)),)).digest != file.digest
    moved = replace(plan, target=replace(plan.target, cluster="other"))
    assert replace(file, plans=(moved,)).digest != file.digest


def test_names_that_are_no_unicode_stay_the_same() -> None:
    file = _planned(_scene(clicks=1))
    (plan,) = file.plans
    odd = replace(file, plans=(replace(plan, items=(replace(plan.items[0], uri="file:///\udcff\u202e"),)),))
    text = "".join(odd.lines())
    assert text.isascii()
    assert PlanFile.parse(text.encode()) == odd
