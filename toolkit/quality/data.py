"""Which data a verdict is on: the files as they lie there, and all that they were judged by."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from toolkit.ledger.fingerprints import Fingerprint, ListedFile
from toolkit.storage import Entry, FileKind, WrongKind

if TYPE_CHECKING:
    from toolkit.actions.gate import Part, Written
    from toolkit.el import CanonicalPath
    from toolkit.entities.quality import Suite
    from toolkit.storage import FileSystem

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_HIDDEN = re.compile(r"(?:^|/)(?:\.|_[^/=]*(?:/|$))")
"""What no reader takes for data: names with a dot before them, and with an underscore unless they are a partition's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DataPrint:
    """What tells data from all other data, wherever it was moved to; equal digests mean equal files.

    Attributes:
        data_digest: of names, sizes and times of change.
        layout_digest: of names and sizes alone, which a copy keeps.
        files: how many.
        bytes: in them.
    """

    data_digest: str
    layout_digest: str
    files: int
    bytes: int


def print_of(written: Written, stores: Callable[[CanonicalPath], FileSystem]) -> DataPrint:
    """List what was written.

    Flags and what begins with a dot or an underscore are no data: nobody judges them, and a flag comes later.

    Raises:
        StorageError: it cannot be listed.
    """
    return print_of_parts(written.parts, written.feed.availability_flag, stores)


def print_of_parts(parts: Sequence[Part], flag: str | None, stores: Callable[[CanonicalPath], FileSystem]) -> DataPrint:
    """As `print_of`, where nothing but the directories and the name of the flag is known."""
    listed = [each for part in parts for each in _files(part, stores(part.place), flag)]
    full = Fingerprint.of(listed)
    layout = Fingerprint.of(each._replace(modified=_EPOCH) for each in listed)
    return DataPrint(data_digest=full.digest, layout_digest=layout.digest, files=full.files, bytes=full.size)


def suites_digest(written: Written, suites: Sequence[Suite]) -> str:
    """What data are judged by: with anything else they may be judged otherwise."""
    quality = written.quality
    judged_by = {
        "suites": [{"name": each.name, "expectations": [asdict(one) for one in each.expectations]} for each in suites],
        "on_failure": quality.on_failure,
        "format": quality.format,
        "options": dict(quality.options),
        "sample": quality.sample,
        "schema": written.schema,
    }
    return hashlib.sha256(json.dumps(judged_by, sort_keys=True, default=str).encode()).hexdigest()


def shows_values(tags: Mapping[str, str]) -> bool:
    """Whether values of rows may be told to people: not of a feed with the word pii in the key or value of a tag."""
    return not any("pii" in re.split(r"[^a-z0-9]+", text.lower()) for pair in tags.items() for text in pair)


def _files(part: Part, store: FileSystem, flag: str | None) -> Iterator[ListedFile]:
    """Named by the last name of their directory, which they keep when it is moved."""
    try:
        entries = list(store.list_tree(part.place))
    except WrongKind:  # a feed's instance may be a file
        found = store.status(part.place)
        entries = [Entry("", found.kind, found.size, found.modified)]
    for each in entries:
        if each.kind is FileKind.DIRECTORY or _HIDDEN.search(each.name) or each.name == flag:
            continue
        yield ListedFile(f"{part.place.name}/{each.kind}/{each.name}", each.size, each.modified or _EPOCH)
