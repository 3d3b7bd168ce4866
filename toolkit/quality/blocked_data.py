"""Blocked data of an instance as they are now: their digest, and what a rejection removes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolkit.actions.staged_unit import blocked_digest, staging_top
from toolkit.actions.validation import Part
from toolkit.availability import is_there
from toolkit.el import parse_instant
from toolkit.entities import LocationType
from toolkit.ledger.validations import CannotDecide
from toolkit.planning.instance_storage import FeedStorage
from toolkit.quality.data import print_of_parts
from toolkit.quality.decision_targets import Removal
from toolkit.storage import NotFound
from toolkit.transfer.trees import below

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.el import CanonicalPath
    from toolkit.entities import Feed
    from toolkit.ledger.validations import ValidationResult
    from toolkit.quality.decision_targets import DecisionTarget
    from toolkit.storage import FileSystem


def digest_of(places: Sequence[CanonicalPath], feed: Feed, work: RunContext) -> str:
    """Return the digest of the data as they are now, or an empty text if one of the places is not there."""
    parts = [Part(place=place, keys={}) for place in places]
    try:
        return print_of_parts(parts, feed.availability_flag, work.stores).data_digest
    except NotFound:
        return ""


def removals(places: Sequence[CanonicalPath], target: DecisionTarget, work: RunContext) -> tuple[Removal, ...]:
    """Return what a rejection removes, of a table's instance only what is staged: its own partitions stay.

    Args:
        places: of the data that were validated.
        target: whose data they are.
        work: for looking.

    Raises:
        CannotDecide: some of it is published, or may be.
        StorageError: a store cannot tell.
    """
    staged = [each for each in places if staging_top(each) is not None]
    wanted = staged if target.feed.is_table and staged else places
    return tuple(_removal(each, target, work) for each in wanted)


def require_rejected(removal: Removal, rejected: ValidationResult, work: RunContext) -> None:
    """Refuse to go on with a removal if other data was staged since: staging removes the manifest first.

    Raises:
        CannotDecide: the manifest does not say that what is there is the rest of the rejected data.
        StorageError: a store cannot tell.
    """
    system = work.stores(removal.place)
    if not is_there(system, removal.place):
        return
    if blocked_digest(system, removal.unit, removal.top) != rejected.data_digest:
        why = f"other data than were rejected may be at {removal.place}: its manifest does not name them"
        raise CannotDecide(unit=str(removal.unit), why=f"{why}; run the action again, which validates what is there")


def _removal(place: CanonicalPath, target: DecisionTarget, work: RunContext) -> Removal:
    top = staging_top(place)
    unit = place if top is None else below(top, place.relative_to(top).partition("/")[2])
    storage = FeedStorage.of(target.feed, target.on)
    if unit == place:
        _require_unannounced(work.stores(place), place, target)
    bases = (target.on.place(each.base) for each in storage.templates.values())
    base = next((base for base in bases if place.is_within(base)), top or unit.parent)
    return Removal(place=place, unit=unit, base=base, top=top)


def _require_unannounced(system: FileSystem, place: CanonicalPath, target: DecisionTarget) -> None:
    stored = FeedStorage.of(target.feed, target.on).at(parse_instant(target.instance_key))
    flag, path = target.feed.availability_flag, stored.paths.get(LocationType.DATA)
    instance = None if path is None else target.on.place(path)
    has_renames = system.capabilities.atomic_rename
    if has_renames or instance is None or not (place == instance or place.is_within(instance)):
        raise CannotDecide(unit=str(place), why="it is not in a staging directory, and only staged data is removed")
    if not flag or is_there(system, instance.child(flag)):
        why = f"{flag} is there: it was announced" if flag else "no flag tells it from what was announced"
        raise CannotDecide(unit=str(place), why=f"{why}; make sure that nothing reads it, and remove it by hand")
