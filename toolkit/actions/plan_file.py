"""Plan file: a plan that people review, and that a later run applies as far as its own plan still says the same.

A plan file may come from anybody. It adds nothing to what a run plans by itself; it only leaves items out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from toolkit.actions.action import DivisibleAction
from toolkit.actions.approval import BadPlanFile, OtherPlan, PlanOutdated
from toolkit.actions.model import D, I, NoTarget, Problem, T, TargetPlan, plan_digest
from toolkit.actions.plan_item import FileItem, ReviewOf, no_review
from toolkit.actions.progress import NOTHING
from toolkit.el import format_instant
from toolkit.errors import InvalidInput
from toolkit.foreign_json import BadJson, parse_json

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.actions.action import Action
    from toolkit.actions.result import ActionRequest, ActionResult, AnyPlan
    from toolkit.ledger.runs.rows import Origin

PLAN_FILE_VERSION = 1
MOST_BYTES, _MOST_VALUES = 256 << 20, 16_000_000
DRIFT = "plan_drift"
"""The code of a target that cannot be applied in part, and of which the plan file says something else."""
_NAMED = 20

OriginOf: TypeAlias = "Callable[[str], Origin]"
"""Tells who works on an entity, and the digest of the entity; raises `InvalidInput` if there is no such entity."""


FilePlan: TypeAlias = "TargetPlan[NoTarget, FileItem, None]"
"""Plan of one target, as a file has it."""


@dataclass(frozen=True, kw_only=True)
class PlanFile:
    """A plan that was written to a file.

    Attributes:
        action: its name.
        nominal_time: for which it was made.
        environment: name; None: none was chosen.
        user: who made it.
        created_at: when, by the clock.
        snapshot: the state of the config repo.
        tool: version of feedctl and what its times depend on.
        refusal: the safety limit that the plan exceeds; None: it exceeds none.
        entities: digests of the entities and clusters, by their names.
        plans: of each target; of one that fails or is refused without items.
    """

    action: str
    nominal_time: str
    environment: str | None
    user: str
    created_at: str
    snapshot: str
    tool: str
    refusal: str | None
    entities: dict[str, str]
    plans: tuple[FilePlan, ...]

    @classmethod
    def of(
        cls, result: ActionResult[T, I, D], origin_of: OriginOf, now: datetime, review: ReviewOf = no_review
    ) -> PlanFile:
        """Return the plan of a dry run as a file has it."""
        plans = tuple(_file_plan(each.plan, review) for each in result.targets)
        origins = {name: origin_of(name) for name in _names(plans)}
        here = next(iter(origins.values()), None)
        return cls(
            action=result.action,
            nominal_time=format_instant(result.request.nominal_time),
            environment=result.request.environment,
            user="" if here is None else here.who,
            created_at=now.isoformat(timespec="seconds"),
            snapshot=str(result.request.snapshot),
            tool="" if here is None else here.versions or "",
            refusal=None if result.refusal is None else str(result.refusal),
            entities={name: origin.digest or "" for name, origin in origins.items()},
            plans=plans,
        )

    @classmethod
    def parse(cls, data: bytes) -> PlanFile:
        """Parse a plan file, and require that it is as it was written.

        Raises:
            BadPlanFile: it is none, it is too large, or it was edited.
        """
        try:
            found = parse_json(data, most_bytes=MOST_BYTES, most_values=_MOST_VALUES)
        except BadJson as error:
            raise BadPlanFile(why=str(error)) from error
        match found:
            case {"schema_version": int(version)} if version != PLAN_FILE_VERSION:
                raise BadPlanFile(why=f"it has schema version {version}, and this feedctl reads {PLAN_FILE_VERSION}")
            case {
                "action": str(action),
                "nominal_time": str(nominal_time),
                "environment": str() | None as environment,
                "user": str(user),
                "created_at": str(created_at),
                "snapshot": str(snapshot),
                "tool": str(tool),
                "refusal": str() | None as refusal,
                "entities": dict(entities),
                "targets": [*targets],
            }:
                file = cls(
                    action=action,
                    nominal_time=nominal_time,
                    environment=environment,
                    user=user,
                    created_at=created_at,
                    snapshot=snapshot,
                    tool=tool,
                    refusal=refusal,
                    entities={name: str(digest) for name, digest in entities.items()},
                    plans=tuple(_parsed_plan(each) for each in targets),
                )
                # One comparison finds fields that are added, left out or changed, and both digests.
                if file.document == found:
                    return file
                raise BadPlanFile(why="it was edited: its content does not have the checksum that it names")
            case _:
                raise BadPlanFile(why="it has not the fields of a plan")

    @cached_property
    def digest(self) -> str:
        """The digest of the plan, as a dry run prints it and `--approve` takes it."""
        return plan_digest(self.plans)

    @cached_property
    def document(self) -> dict[str, object]:
        """The file in JSON."""
        content: dict[str, object] = {
            "schema_version": PLAN_FILE_VERSION,
            "action": self.action,
            "nominal_time": self.nominal_time,
            "environment": self.environment,
            "user": self.user,
            "created_at": self.created_at,
            "snapshot": self.snapshot,
            "tool": self.tool,
            "refusal": self.refusal,
            "plan_digest": self.digest,
            "entities": self.entities,
            "targets": [_target_document(plan) for plan in self.plans],
        }
        text = json.dumps(content, sort_keys=True, separators=(",", ":"))
        return {**content, "checksum": hashlib.sha256(text.encode()).hexdigest()}

    @property
    def checksum(self) -> str:
        """The digest of the whole file; no two files that were written have the same one."""
        return str(self.document["checksum"])

    def lines(self) -> Iterator[str]:
        """Yield the text of the file: ASCII, and a line for each item, so that a review shows what differs."""
        head = {name: value for name, value in self.document.items() if name != "targets"}
        yield json.dumps(head, indent=2).removesuffix("\n}") + ',\n  "targets": ['
        for at, plan in enumerate(self.plans):
            target = json.dumps({**_target_document(plan), "items": []}).removesuffix("]}")
            items = ",\n      ".join(json.dumps(each.document) for each in plan.items)
            yield f"{',' if at else ''}\n    {target}{f'{chr(10)}      {items}{chr(10)}    ' if items else ''}]}}"
        yield "\n  ]\n}\n" if self.plans else "]\n}\n"

    def require_same(
        self, action: str, request: ActionRequest, chosen: Collection[tuple[str, str]], origin_of: OriginOf
    ) -> None:
        """Return when the plan was made by this user, for this run, from these entities.

        Args:
            action: its name.
            request: of the run.
            chosen: the feeds that the run was asked for, each with its cluster.
            origin_of: tells the user and the digest of an entity now.

        Raises:
            OtherPlan: it was not.
        """
        found = [
            _other("action", self.action, action),
            _other("time", self.nominal_time, format_instant(request.nominal_time)),
            _other("environment", self.environment or "none", request.environment or "none"),
        ]
        sites = dict.fromkeys((plan.target.entity, plan.target.cluster) for plan in self.plans)
        found += [
            f"{entity} on {cluster} is not chosen" for entity, cluster in sites if (entity, cluster) not in chosen
        ]
        for name in _names(self.plans):
            try:
                origin = origin_of(name)
            except InvalidInput:
                found.append(f"{name} is not in the config repo")
                continue
            found.append(_other("user", self.user, origin.who))
            if self.entities.get(name) != origin.digest:
                found.append(f"{name} was changed since the plan was made")
        differences = tuple(dict.fromkeys(each for each in found if each))
        if differences:
            raise OtherPlan(differences=differences)

    def has_key(self, key: tuple[str, str, str, str]) -> bool:
        """Return whether the file has a plan for the target of this `TargetPlan.sort_key`."""
        return key in self._by_target

    @cached_property
    def _by_target(self) -> dict[tuple[str, str, str, str], FilePlan]:
        return {plan.sort_key: plan for plan in self.plans}

    def restricted(
        self, plan: TargetPlan[T, I, D], action: Action[T, I, D], review: ReviewOf = no_review
    ) -> TargetPlan[T, I, D]:
        """Return the items of a plan that the file has as well; what differs is named in the plan's notes.

        A target that can only be applied whole loses all of its items if one differs.
        """
        if plan.failed is not None or plan.skipped is not None or plan.waiting is not None:
            return plan
        reviewed = {each: each.shown.content for each in self._by_target[plan.sort_key].items}
        planned = [FileItem.of(each) for each in plan.items]
        known = [at for at, each in enumerate(planned) if each in reviewed]
        looked = review(replace(plan, items=tuple(plan.items[at] for at in known))) if known else ()
        now = {at: found.content for at, found in zip(known, looked, strict=True)}
        unknown = {at for at, found in zip(known, looked, strict=True) if found.is_unknown}
        same = frozenset(at for at in now if at not in unknown and now[at] == reviewed[planned[at]])
        if len(same) == len(planned) == len(reviewed):
            return plan
        due = set(planned)
        gone = [each for each in reviewed if each not in due]
        new = [each for at, each in enumerate(planned) if at not in now]
        other = [f"{planned[at]}: {reviewed[planned[at]]}; now {now[at]}" for at in known if at not in same]
        notes = (
            *plan.notes,
            *_named("in the plan file, but not due in this form now", gone),
            *_named("with other data than in the plan file", other),
            *_named("due now, but not in the plan file", new),
        )
        drifted = replace(plan, notes=notes, drifted=True)
        if isinstance(action, DivisibleAction):
            part: TargetPlan[T, I, D] = action.part(drifted, same)
            return part
        message = f"{plan.label} is applied whole or not at all, and the plan file says something else; make a new plan"
        return replace(drifted, items=(), volume=NOTHING, refused=Problem(code=DRIFT, message=message))

    def missing(self, targets: Collection[tuple[str, str, str, str]]) -> tuple[str, ...]:
        """Return notes about targets with items in the file that a run does not have, in their order."""
        lost = [plan for plan in self.plans if plan.items and plan.sort_key not in targets]
        labels = [f"{plan.label} {plan.target.instance_key}: {len(plan.items)} items" for plan in lost]
        return tuple(_named("in the plan file, but nothing to work on now", labels))

    def outdated(self) -> PlanOutdated:
        """Return the refusal of a file of which nothing can be applied any more."""
        return PlanOutdated(items=sum(len(plan.items) for plan in self.plans), created_at=self.created_at)


def _other(what: str, planned: str, now: str) -> str:
    return "" if planned == now else f"its {what} is {planned}, that of this run is {now}"


def _named(what: str, found: Sequence[object]) -> Iterator[str]:
    """Yield a line for each of the first few, and how many more there are."""
    yield from (f"{what}: {each}" for each in found[:_NAMED])
    if len(found) > _NAMED:
        yield f"{what}: {len(found) - _NAMED:,} more"


def _names(plans: Sequence[FilePlan]) -> list[str]:
    """Return the names of the entities and clusters that plans are about, rising."""
    found = {name for plan in plans for name in (plan.target.entity, plan.target.cluster, plan.target.counterpart)}
    return sorted(found - {""})


def _file_plan(plan: AnyPlan[T, I, D], review: ReviewOf) -> FilePlan:
    entity, cluster, counterpart, key = plan.sort_key
    problems = [each for each in (plan.failed, plan.skipped, plan.waiting, plan.refused) if each is not None]
    return TargetPlan(
        target=NoTarget(entity=entity, cluster=cluster, counterpart=counterpart, instance_key=key),
        detail=None,
        items=() if problems or not plan.items else tuple(map(FileItem.of, plan.items, review(plan))),
        notes=(*plan.notes, *(f"{each.code}: {each.message}" for each in problems)),
    )


def _target_document(plan: FilePlan) -> dict[str, object]:
    target = plan.target
    return {
        "entity": target.entity,
        "cluster": target.cluster,
        "counterpart": target.counterpart,
        "instance": target.instance_key,
        "notes": list(plan.notes),
        "items": [each.document for each in plan.items],
    }


def _parsed_plan(found: object) -> FilePlan:
    match found:
        case {
            "entity": str(entity),
            "cluster": str(cluster),
            "counterpart": str(counterpart),
            "instance": str(key),
            "notes": [*notes],
            "items": [*items],
        }:
            return TargetPlan(
                target=NoTarget(entity=entity, cluster=cluster, counterpart=counterpart, instance_key=key),
                detail=None,
                items=tuple(map(FileItem.parse, items)),
                notes=tuple(map(str, notes)),
            )
        case _:
            raise BadPlanFile(why="a target has not the fields entity, cluster, counterpart, instance, notes and items")
