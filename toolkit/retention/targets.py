"""What a retention run works on: feeds on clusters, with everything about them resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from toolkit.el import format_instant
from toolkit.entities import LocationType
from toolkit.planning.delete_limits import DeleteLimits

if TYPE_CHECKING:
    from datetime import datetime

    from toolkit.el import CanonicalPath, Frequency, InstanceSequence, PathTemplate
    from toolkit.planning.retention import EvictionPolicy


@dataclass(frozen=True, kw_only=True)
class Location:
    """One dated location of a feed on a cluster.

    Attributes:
        type: what is in it.
        template: with the feed's and the cluster's variables bound.
        base: the directory that bounds every effect: the part before the first variable.
    """

    type: LocationType
    template: PathTemplate
    base: CanonicalPath

    @cached_property
    def last_depth(self) -> int:
        """The index of the segment that names instances."""
        return len(self.template.segments) - 1

    def written(self, path: CanonicalPath) -> str:
        """The path in the way that the template writes it, for `explain`."""
        return f"{self.template.base.removesuffix('/')}/{path.relative_to(self.base)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedTarget:
    """A feed on a cluster whose old instances a run may remove.

    Attributes:
        feed: name.
        cluster: name.
        limit: instances older than this go.
        effective_time: from which the limit is counted back.
        instances: the feed's grid on the cluster.
        policy: what decides about each instance.
        locations: the dated ones.
        neighbour_bases: of feeds that share this data; a hold file there counts as well.
        neighbours: those feeds, each with its cluster; a hold on them counts as well.
        availability_flag: the file that says that an instance is complete; empty: there is none.
        name_services: authorities that are one store with a name service, see `Cluster.name_services`.
        max_delete: how much of it one run may delete, whatever goes of other feeds.
        notes: what the user should know, for example an undated location that stays.
    """

    feed: str
    cluster: str
    limit: Frequency
    effective_time: datetime
    instances: InstanceSequence
    policy: EvictionPolicy
    locations: tuple[Location, ...]
    neighbour_bases: tuple[CanonicalPath, ...] = ()
    neighbours: tuple[tuple[str, str], ...] = ()
    availability_flag: str = ""
    name_services: Mapping[str, str] = field(default_factory=dict)
    max_delete: DeleteLimits = field(default_factory=DeleteLimits)
    notes: tuple[str, ...] = ()

    counterpart: str = ""

    @property
    def entity(self) -> str:
        """See `Target.entity`."""
        return self.feed

    @property
    def instance_key(self) -> str:
        """See `Target.instance_key`: one eviction for each nominal time."""
        return format_instant(self.policy.nominal_time)

    @property
    def data_bases(self) -> tuple[CanonicalPath, ...]:
        """Where a hold file counts: its own bases, and those of feeds that share its data."""
        return tuple(dict.fromkeys((*(location.base for location in self.locations), *self.neighbour_bases)))
