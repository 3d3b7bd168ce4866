"""The fingerprint of what a process instance reads: the files that its engine would see, from one listing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from toolkit.planning.instance_storage import PartitionExpression
from toolkit.planning.late_changes import Fingerprint, ListedFile
from toolkit.storage import FileKind, NotFound, WrongKind

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.el.segment import Segment
    from toolkit.storage import FileSystem


def _never() -> None:
    """Nothing ends the listing early."""


def fingerprint(
    system: FileSystem, path: CanonicalPath, partition: str = "", check: Callable[[], None] = _never
) -> Fingerprint:
    """The files of an instance that an engine reads; of one that is not there, the fingerprint of no file.

    What Hadoop's readers pass over does not count, so that neither a flag that is written anew nor what is in
    ``_temporary`` is late data: names that begin with ``.``, or with ``_`` unless they are a partition (``_day=1``),
    and what is being copied there.

    Args:
        system: the store.
        path: the instance: a directory, or a single file.
        partition: of the input, for example ``*/US``: only what it selects counts.
        check: asked from time to time; what it raises ends the listing.

    Raises:
        ElError: a malformed partition.
        StorageError: it cannot be listed as a whole.
    """
    parts = PartitionExpression(partition).parts if partition else ()
    return Fingerprint.of(_files(system, path, parts, check))


def _files(
    system: FileSystem, path: CanonicalPath, parts: Sequence[Segment], check: Callable[[], None]
) -> Iterator[ListedFile]:
    try:
        for entry in system.list_tree(path):
            check()
            names = entry.name.split("/")
            if entry.kind is not FileKind.DIRECTORY and not any(map(_is_hidden, names)) and _is_selected(names, parts):
                yield ListedFile(entry.name, entry.size, entry.modified)
    except NotFound as error:
        if (
            error.path != path
        ):  # a directory went away while it was listed: half a listing must not pass for a whole one
            raise
    except WrongKind:
        found = system.status(path)
        yield ListedFile(path.name, found.size, found.modified)


def _is_selected(names: Sequence[str], parts: Sequence[Segment]) -> bool:
    """Whether a file is below the directories that the parts select."""
    above = names[: len(parts)] if len(names) > len(parts) else None
    return above is not None and all(part.match(name) is not None for part, name in zip(parts, above, strict=True))


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")
