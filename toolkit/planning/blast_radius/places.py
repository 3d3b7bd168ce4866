"""Places of a feed's instances, in a form that can be compared with the places before a change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import islice, product

from toolkit.el import CanonicalPath, Frequency, OutOfRange, PathPeriod, PathTemplate, TableUri, load_zone, to_local
from toolkit.el.fields import render_field
from toolkit.el.pattern import NOTHING_KNOWN, DatedPattern
from toolkit.el.segment import Segment
from toolkit.el.tokens import DateField, Glob, Literal, Token, Variable, glob_regex
from toolkit.planning.instance_storage import FeedStorage

TABLE = "table"
"""The role of the one place of a table feed; those of a path feed have their location types."""

_MOST_SAMPLES = 16
_ANY_NAMES = ("x", "another-name.1")
_CHARACTERS = "x7aA_-0bcdefghijklmnopqrstuvwyz12345689BCDEFGHIJKLMNOPQRSTUVWXYZ."

Names = tuple[str, ...]
"""A path or partition as names, from the file system or table on."""


@dataclass(frozen=True, kw_only=True)
class BoundLocation:
    """A location of a feed on a cluster, with all variables bound that have a value.

    Attributes:
        role: the location type, or `TABLE`.
        text: as people know it, with the values of variables.
        timezone: of its date fields.
        start: what stands before the pattern: file system and root, or table and keys.
        pattern: the names.
    """

    role: str
    text: str
    timezone: str
    start: Names
    pattern: DatedPattern

    @property
    def dated(self) -> bool:
        """True if it has date fields; retention leaves a place without any."""
        return bool(self.pattern.fields)

    @property
    def granularity(self) -> Frequency | None:
        """The length of the period that one name stands for."""
        return self.pattern.granularity

    @cached_property
    def names_text(self) -> Names:
        """Equal for places whose instances have the same names."""
        return (*self.start, *(segment.text for segment in self.pattern.segments))

    @property
    def free(self) -> Names:
        """The globs, and the variables without a value: where names may differ."""
        tokens = (token for segment in self.pattern.segments for token in segment.tokens)
        return tuple(_text(token) for token in tokens if isinstance(token, Glob | Variable))

    def samples(self, instant: datetime) -> Iterator[Names]:
        """Names that the instance of that time may have: one for each choice of its globs, a few at most."""
        local = _local(instant, self.timezone)
        choices = (tuple(_names(segment, local)) for segment in self.pattern.segments)
        return islice((self.start + each for each in product(*choices)), _MOST_SAMPLES)

    def period(self, names: Sequence[str]) -> PathPeriod | None:
        """Return the period that names stand for here; None: they do not conform."""
        depth = len(self.start)
        if tuple(names[:depth]) != self.start or len(names) != depth + len(self.pattern.segments):
            return None
        known = NOTHING_KNOWN
        for at, name in enumerate(names[depth:]):
            step = self.pattern.step(known, at, name)
            if step is None:
                return None
            known = step
        return self.pattern.period(known)


def places(storage: FeedStorage, default_fs: str) -> dict[str, BoundLocation]:
    """The places of a feed on a cluster, by role.

    Args:
        storage: of the feed on the cluster.
        default_fs: what paths without a scheme are on.

    Raises:
        ElError: a location has an unknown scheme.
    """
    if storage.table is not None:
        return {TABLE: _of_table(storage.table)}
    return {str(kind): _of_template(str(kind), each, default_fs) for kind, each in storage.templates.items()}


def _local(instant: datetime, timezone: str) -> datetime:
    """The local time; at the edge of the calendar, where a zone has none, that of UTC."""
    try:
        return to_local(instant, load_zone(timezone))
    except OutOfRange:
        return instant.replace(tzinfo=None)


def _of_table(uri: TableUri) -> BoundLocation:
    start = ("catalog", *(name.lower() for name in (uri.database, uri.table, *uri.partition_keys)))
    keys = zip(uri.partition_keys, uri.pattern.segments, strict=True)
    text = f"catalog:{uri.database}:{uri.table}#{';'.join(f'{key}={value.text}' for key, value in keys)}"
    return BoundLocation(role=TABLE, text=text, timezone=uri.timezone, start=start, pattern=uri.pattern)


def _of_template(role: str, template: PathTemplate, default_fs: str) -> BoundLocation:
    root = CanonicalPath.parse(f"{template.root}/", default_fs)
    start = (root.scheme, root.authority, *(name for name in root.path.split("/") if name))
    text = "/".join((template.root, *(segment.text for segment in template.segments)))
    return BoundLocation(role=role, text=text, timezone=template.timezone, start=start, pattern=template.pattern)


def _names(segment: Segment, local: datetime) -> Iterator[str]:
    """As many as samples can need; some names have more than any machine can count."""
    choices = (tuple(_choices(token, local)) for token in segment.tokens)
    return islice(("".join(parts) for parts in product(*choices)), _MOST_SAMPLES)


def _choices(token: Token, local: datetime) -> Iterator[str]:
    """Texts that a part of a name may be: all of a short list, two of a long one."""
    match token:
        case DateField(field):
            yield render_field(field, local)
        case Glob(text):
            yield from _glob_choices(text)
        case Literal(text):
            yield text
        case Variable(name):
            yield name


def _glob_choices(text: str) -> Sequence[str]:
    if text == "*":
        return _ANY_NAMES
    if text.startswith("{"):
        return text[1:-1].split(",")
    pattern = re.compile(glob_regex(text))
    return [each for each in _CHARACTERS if pattern.fullmatch(each)][:2]


def _text(token: Glob | Variable) -> str:
    return token.text if isinstance(token, Glob) else f"${{{token.name}}}"
