"""A config repo as it was at one moment: its files, and what it is known by (DESIGN section 1)."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from toolkit.config_source.errors import StaleSnapshot
from toolkit.el import Frequency, format_instant, shift
from toolkit.entities.problems import ConfigProblem

_CLOCKS_DIFFER = timedelta(minutes=5)
"""Allowed lead of a committer's clock."""


class SnapshotKind(StrEnum):
    """Source of a snapshot."""

    COMMIT = "commit"
    """One commit of a git checkout."""
    ARCHIVE = "archive"
    """A zip or tar file."""
    DIRECTORY = "directory"
    """A plain directory."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SnapshotId:
    """Identity of the config repo that a run has read.

    Attributes:
        value: a commit, or ``sha256:`` and the digest of the content.
        dirty: the working tree was read, and it differs from the commit.
        committed_at: when the content was committed; None when that is unknown.
    """

    kind: SnapshotKind
    value: str
    dirty: bool = False
    committed_at: datetime | None = None

    def __str__(self) -> str:
        return f"{self.kind} {self.value}" + (" (dirty)" if self.dirty else "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """The files of a config repo; what reads it never looks at the disk again.

    Attributes:
        root: where it was read, for people.
        files: content of the configuration files, by path with `/`.
        names: paths of all other files.
        texts: content of those other files that the opener wanted as well, such as scripts for lint; see `is_text`.
        problems: files that could not be read.
    """

    root: str
    files: Mapping[str, bytes] = field(repr=False)
    names: frozenset[str] = field(default=frozenset(), repr=False)
    texts: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    id: SnapshotId
    problems: tuple[ConfigProblem, ...] = ()


FileFilter = Callable[[str], bool]
"""Tells by the path of a file that is no configuration whether a snapshot keeps its content in `texts`."""
MOST_TEXT, MOST_TEXTS = 1 << 20, 64 << 20
"""Octets of a file that a snapshot keeps in `texts`, and of all of these: larger ones are no scripts of people."""


def is_text(data: bytes) -> bool:
    """Return whether what a file has can be a script that a person wrote: it is not large, and no program."""
    return len(data) <= MOST_TEXT and b"\0" not in data


def no_other_file(_path: str) -> bool:
    """Keep no file but the configuration."""
    return False


def require_age(snapshot: SnapshotId, max_age: Frequency | None, now: datetime) -> None:
    """Refuses a snapshot that is older than `repo.yaml: max_age`, or of unknown age; one of the future stays young.

    Args:
        snapshot: what was read.
        max_age: absent: any age will do.
        now: the wall clock.

    Raises:
        StaleSnapshot: it is too old, or has no date, or one in the future.
    """
    if max_age is None:
        return
    committed = snapshot.committed_at
    is_future = committed is not None and committed > now + _CLOCKS_DIFFER
    if committed is None or is_future or committed < shift(now, max_age, -1):
        age = None if committed is None else format_instant(committed.replace(second=0, microsecond=0))
        raise StaleSnapshot(snapshot=str(snapshot), committed_at=age, max_age=str(max_age), is_future=is_future)


def content_digest(contents: Iterable[tuple[bytes, bytes]]) -> str:
    """The digest of named contents, in whatever order they come.

    Args:
        contents: pairs of a name and the SHA-256 digest of what it names.
    """
    total = hashlib.sha256()
    for name, digest in sorted(contents):
        total.update(len(name).to_bytes(8, "big") + name + digest)
    return f"sha256:{total.hexdigest()}"
