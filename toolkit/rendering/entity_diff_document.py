"""What a change of the config repo does, as one JSON document."""

from __future__ import annotations

import json

from toolkit.config_source import SnapshotId
from toolkit.el import format_instant
from toolkit.linter.entity_diff import EntityChange, EntityDiff, ValueChange
from toolkit.planning.blast_radius import Effect, message_of
from toolkit.result import SCHEMA_VERSION


def entity_diff_json(diff: EntityDiff) -> str:
    """The change; entities are sorted by name, effects by feed and cluster."""
    comparison = diff.comparison
    document = {
        "schema_version": SCHEMA_VERSION,
        "ref": diff.ref,
        "base": _snapshot(diff.base),
        "snapshot": _snapshot(diff.snapshot),
        "environment": diff.environment,
        "time": format_instant(diff.time),
        "entities": {
            "added": [_entity(each) for each in comparison.added],
            "changed": [_entity(each) for each in comparison.changed],
            "removed": [_entity(each) for each in comparison.removed],
        },
        "downstream": list(comparison.downstream),
        "settings": [_value(each) for each in diff.settings],
        "holds": {"added": list(diff.holds.added), "removed": list(diff.holds.removed)},
        "blast_radius": {
            "more_evictable": diff.more_evictable,
            "effects": [_effect(each) for each in diff.effects],
        },
        "notes": list(diff.notes),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _snapshot(snapshot: SnapshotId) -> dict[str, object]:
    return {"kind": snapshot.kind.value, "id": snapshot.value, "dirty": snapshot.dirty}


def _entity(change: EntityChange) -> dict[str, object]:
    return {
        "name": change.name,
        "kind": change.kind.value,
        "file": change.file,
        "values": [_value(each) for each in change.values],
        "downstream": list(change.downstream),
    }


def _value(change: ValueChange) -> dict[str, object]:
    return {"key": change.key, "before": change.before, "after": change.after, "place": change.place}


def _effect(effect: Effect) -> dict[str, object]:
    found = effect.instances
    return {
        "kind": effect.kind.value,
        "feed": effect.feed or None,
        "was": effect.was or None,
        "cluster": effect.cluster,
        "before": effect.before or None,
        "after": effect.after or None,
        "instances": None
        if found is None
        else {
            "count": found.count,
            "first": format_instant(found.first),
            "end": format_instant(found.end),
            "has_gaps": found.has_gaps,
        },
        "message": message_of(effect),
    }
