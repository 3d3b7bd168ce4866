"""Feeds that may have data in common with chosen ones, told by texts, so that few feeds of a large repo are made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from toolkit.el.fields import Field
from toolkit.entities.vocabulary import LocationType
from toolkit.planning.instance_storage import FeedStorage, on_clusters

if TYPE_CHECKING:
    from collections.abc import Collection

    from toolkit.el import CanonicalPath
    from toolkit.entities import Feed, Repository
    from toolkit.entities.documents import Document, Value

RealPaths = Callable[[Iterable[str]], Mapping[str, str]]
"""The same path for all names of one local directory."""
_LOCATION = re.compile(
    r"(?:(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*):(?://[^/]*)?)?(?P<literal>[^$*?\[\]{}]*)(?P<open>[^/]*)"
)
"""A location: its store, what stands before its first variable or glob, and the rest of the name with that."""
_KINDS = tuple(each.value for each in LocationType)
_FEW = 100
"""For more chosen feeds than these, reading texts saves little."""
_STAYS_OPEN = re.compile(rf"\$\{{(?:{'|'.join(Field)})\}}|[*?\[]|(?<!\$)\{{")
"""A part of a name that no value of a variable makes literal: a date field, or a glob."""


class _Base(NamedTuple):
    """The base of a location by its text.

    Attributes:
        path: without its store; the base, or a directory around it.
        is_local: it is on local disks.
        is_exact: it is the base, whatever the values of variables are.
    """

    path: str
    is_local: bool
    is_exact: bool = True


def nearby_feeds(repository: Repository, chosen: Collection[Feed], real: RealPaths) -> tuple[Feed, ...]:
    """Return the feeds that can share data with one of the chosen ones, these, and all table feeds, in their order.

    The names of a location before its first variable are a directory around all of its data, whatever the values of
    variables are. Two feeds whose directories are not equal, nor one in the other, share nothing, on whatever stores.
    Local directories are compared as they are now, without links. Where the partitions of a table are is not known: for
    a table feed all feeds are returned.

    Args:
        repository: has the feeds.
        chosen: some of them.
        real: resolves local paths; all of the repo are given to it in the order of `SharedDataIndex`.
    """
    if not chosen:
        return ()
    if len(chosen) > _FEW or any(each.is_table for each in chosen):
        return tuple(repository.feeds.values())
    nearby = _Nearby(repository=repository, chosen=chosen, real=real)
    return tuple(repository.feeds[name] for name in nearby.names())


@dataclass(frozen=True, kw_only=True)
class _Nearby:
    """The bases of a repo beside those of chosen feeds."""

    repository: Repository
    chosen: Collection[Feed]
    real: RealPaths

    def names(self) -> Iterator[str]:
        """Yield the names of the feeds that are near."""
        real = self._real
        local = _Directories(real[each.path] for each in self._own if each.is_local)
        remote = _Directories(each.path for each in self._own if not each.is_local)
        for name, bases in self._bases.items():
            if bases is None or any(
                local.meets(real.get(path, path)) if is_local else remote.meets(path) for path, is_local, _ in bases
            ):
                yield name

    @cached_property
    def _real(self) -> Mapping[str, str]:
        """The local paths without links; empty if the chosen feeds have no local data."""
        if not self._is_local:
            return {}
        every = (*chain.from_iterable(bases for bases in self._bases.values() if bases is not None), *self._own)
        return self.real(each.path for each in every if each.is_local)

    @cached_property
    def _is_local(self) -> bool:
        return any(each.is_local for each in self._own)

    @cached_property
    def _own(self) -> tuple[_Base, ...]:
        """The bases of the chosen feeds and of their archives."""
        archives = [feed.archive_on(each.name) for feed in self.chosen for each in feed.clusters]
        return tuple(self._exact((*self.chosen, *(each for each in archives if each is not None))))

    def _exact(self, feeds: Iterable[Feed]) -> Iterator[_Base]:
        for feed, cluster in on_clusters(feeds, self.repository.clusters.values()):
            for template in FeedStorage.of(feed, cluster).templates.values():
                place = cluster.place(template.base)
                yield _Base(place.path, place.is_local)

    @cached_property
    def _bases(self) -> Mapping[str, tuple[_Base, ...] | None]:
        """The bases of each feed by its name; None: it is a table."""
        documents = self.repository.feed_documents()
        return {name: None if "table" in document else self._of(name, document) for name, document in documents}

    def _of(self, name: str, document: Document) -> tuple[_Base, ...]:
        """Return the bases of a feed; links may be anywhere, so that local ones have to be exact."""
        found = tuple(_bases_of(document, self._roots))
        if self._is_local and any(each.is_local and not each.is_exact for each in found):
            return tuple(self._exact([self.repository.feeds[name]]))
        return found

    @cached_property
    def _roots(self) -> Mapping[str, CanonicalPath]:
        return {name: each.place("/") for name, each in self.repository.clusters.items()}


class _Directories:
    """A few directories, and those around them."""

    def __init__(self, own: Iterable[str]) -> None:
        prefixes = {f"{each.rstrip('/')}/" for each in own}
        self._prefixes = tuple(prefixes)
        self._around = {each[: at + 1] for each in prefixes for at, letter in enumerate(each) if letter == "/"}

    def meets(self, path: str) -> bool:
        """Return whether a path is one of them, or in one, or around one."""
        prefix = f"{path}/" if path != "/" else path
        return prefix in self._around or prefix.startswith(self._prefixes)


def _bases_of(document: Document, roots: Mapping[str, CanonicalPath]) -> Iterator[_Base]:
    """Yield the bases of a path feed by cluster and type of location, in the order of the feed's storage."""
    every, clusters = _mapping(document.get("locations")), document.get("clusters")
    for on in map(_mapping, clusters if isinstance(clusters, list) else ()):
        own, root = on.get("locations"), roots.get(str(on.get("name")))
        texts = {**every, **own} if isinstance(own, Mapping) else every
        if root is not None:
            yield from (_base_of(str(texts[kind]), root) for kind in _KINDS if texts.get(kind))


def _mapping(value: Value) -> Mapping[str, Value]:
    return value if isinstance(value, Mapping) else {}


def _base_of(text: str, root: CanonicalPath) -> _Base:
    found = _LOCATION.match(text)
    assert found is not None  # noqa: S101 - any text begins with what may be empty
    scheme, path, rest = found["scheme"], found["literal"], found["open"]
    is_exact = True
    if rest:
        path, _, name = path.rpartition("/")
        is_exact = _STAYS_OPEN.search(name + rest) is not None
    if scheme is None and root.path != "/":
        path = root.path + path
    is_local = root.is_local if scheme is None else scheme.lower() == "file"
    return _Base(path.rstrip("/") or "/", is_local, is_exact)
