"""Units that are judged before anybody is told: copied where nobody reads, and kept there while they must not be seen.

What an earlier run has copied is told from the rest of a copy by a file beside it, which has the digests of its files.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from toolkit.actions.validation import Part, Written, staging_place
from toolkit.runs.recorder import path_text

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.validation import FeedValidation
    from toolkit.el import CanonicalPath
    from toolkit.replication.targets import ReplicationTarget, UnitItem


def written_at(
    target: ReplicationTarget, validation: FeedValidation, unit: CanonicalPath, place: CanonicalPath
) -> Written:
    """A unit as the gate is asked for it.

    Args:
        target: its instance.
        validation: how.
        unit: where it is, or will be, announced.
        place: where it lies now.
    """
    return Written(
        feed=validation.feed,
        cluster=validation.cluster,
        instance_key=target.instance_key,
        unit=path_text(str(unit)),
        parts=(Part(place=place, keys={}),),
        quality=validation.quality,
        counterpart=target.counterpart,
    )


def may_publish(target: ReplicationTarget, unit: CanonicalPath, work: RunContext) -> bool:
    """Whether what waits for a unit may be announced, without judging it.

    Raises:
        StorageError: it cannot be listed.
    """
    validation = target.validation
    return validation is not None and work.validator.may_publish(
        written_at(target, validation, unit, staging_place(unit))
    )


def content_digest(item: UnitItem) -> str:
    """Return the digest of what the unit is to have in the end, with the times that it has at the source."""
    digest = hashlib.sha256(f"{item.source}\n{item.target}\n".encode(errors="surrogateescape"))
    for tree in (item.wanted, item.extra):
        for name, entry in sorted(tree.items()):
            digest.update(repr((name, *entry)).encode())
        digest.update(b"\n")
    return digest.hexdigest()
