"""Context of a check: everything it may look at besides the entity itself."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import MAXYEAR, MINYEAR

from toolkit.el import Frequency, OutOfRange
from toolkit.entities.cluster import Cluster
from toolkit.entities.datasource import Datasource
from toolkit.entities.feed import Feed
from toolkit.entities.nearest import suggestion
from toolkit.entities.source_files import CALENDARS_FOLDER, SUITES_FOLDER
from toolkit.entities.values import Validity
from toolkit.entities.violation import Violation
from toolkit.entities.vocabulary import Kind
from toolkit.entities.yaml_location import Pointer


@dataclass(frozen=True, kw_only=True, slots=True)
class Context:
    """All entities of the config repo.

    Attributes:
        names: of every entity by kind, also of those that have problems of their own.
        clusters: the usable ones.
        feeds: the usable ones.
        datasources: the usable ones.
        suites: names of all suites of expectations, also of those that have problems of their own.
        groups: names of all groups of feeds.
        calendars: names of all calendars, also of those that have problems of their own.
        channels: names of `monitoring.channels`.
        datasets: canonical URIs of the datasets of `repo.yaml` and of all outlets.
        expanded: names of entities that a mirror stands for: an environment lays its values over the mirror.
    """

    names: Mapping[Kind, Collection[str]]
    clusters: Mapping[str, Cluster]
    feeds: Mapping[str, Feed]
    datasources: Mapping[str, Datasource] = field(default_factory=dict)
    suites: Collection[str] = ()
    groups: Collection[str] = ()
    datasets: Collection[str] = ()
    calendars: Collection[str] = ()
    channels: Collection[str] = ()
    expanded: Collection[str] = ()

    def reference(self, kind: Kind, name: str, pointer: Pointer) -> Iterator[Violation]:
        """A finding when no entity of a kind has this name."""
        known = self.names[kind]
        if name not in known:
            yield Violation(
                pointer=pointer,
                rule=f"unknown-{kind}",
                message=f"found the {kind} {name!r}, expected one under {kind.folder}/",
                hint=suggestion(name, known),
            )

    def suite(self, name: str, pointer: Pointer) -> Iterator[Violation]:
        """A finding when no suite of expectations has this name."""
        if name not in self.suites:
            yield Violation(
                pointer=pointer,
                rule="unknown-suite",
                message=f"found the suite {name!r}, expected one under {SUITES_FOLDER}/",
                hint=suggestion(name, self.suites),
            )

    def calendar(self, name: str, pointer: Pointer) -> Iterator[Violation]:
        """Yield a finding when no calendar has this name."""
        if name not in self.calendars:
            yield Violation(
                pointer=pointer,
                rule="unknown-calendar",
                message=f"found the calendar {name!r}, expected one under {CALENDARS_FOLDER}/",
                hint=suggestion(name, self.calendars),
            )

    def channel(self, name: str, pointer: Pointer) -> Iterator[Violation]:
        """Yield a finding when no channel of messages has this name."""
        if name not in self.channels:
            yield Violation(
                pointer=pointer,
                rule="unknown-channel",
                message=f"found the channel {name!r}, expected one of `monitoring.channels` in repo.yaml",
                hint=suggestion(name, self.channels),
            )

    def cluster_version(self, name: str, version: int | None, pointer: Pointer) -> Iterator[Violation]:
        """A finding when a reference asks for a later version of a cluster than there is."""
        cluster = self.clusters.get(name)
        if cluster is not None and version is not None and version > cluster.version:
            yield Violation(
                pointer=pointer,
                rule="cluster-version",
                message=f"asks for version {version} of the cluster {name}, which is {cluster.version}",
                hint="raise the version of the cluster, or ask for less",
            )


def validity_findings(validity: Validity, frequency: Frequency, timezone: str, pointer: Pointer) -> Iterator[Violation]:
    """A finding when a validity has no instances: it is [start, end) with start < end (DESIGN section 8)."""
    if validity.start >= validity.end:
        yield Violation(
            pointer=(*pointer, "validity", "end"),
            rule="empty-validity",
            message="the validity ends before it starts, expected start < end",
            hint="the end is exclusive",
        )
    elif validity.start.year in {MINYEAR, MAXYEAR}:
        yield from _calendar_findings(validity, frequency, timezone, (*pointer, "validity", "start"))


def _calendar_findings(
    validity: Validity, frequency: Frequency, timezone: str, pointer: Pointer
) -> Iterator[Violation]:
    """A finding when the start has no local time: only at the ends of the calendar can that be."""
    try:
        validity.sequence(frequency, timezone)
    except OutOfRange as error:
        yield Violation(pointer=pointer, rule="bad-instant", message=str(error))


def duplicate_findings(names: Iterable[str], pointer: Pointer) -> Iterator[Violation]:
    """A finding for each item of a list of named items that has the name of an earlier one."""
    seen: set[str] = set()
    for index, name in enumerate(names):
        if name in seen:
            yield Violation(
                pointer=(*pointer, index, "name"),
                rule="duplicate-name",
                message=f"the name {name!r} is there twice in {pointer[-1]}",
                hint="keep one of them",
            )
        seen.add(name)
