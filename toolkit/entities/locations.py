"""Locations of the instances of a path feed: one template for each type of location."""

from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.entities.vocabulary import LocationType


@dataclass(frozen=True, kw_only=True, slots=True)
class Locations:
    """A path feed's templates by type; on a feed's cluster those given override the feed's."""

    data: str | None = None
    stats: str | None = None
    meta: str | None = None
    tmp: str | None = None

    def by_type(self) -> Iterator[tuple[LocationType, str]]:
        """The templates that are given, data first."""
        for each in LocationType:
            template = self.get(each)
            if template is not None:
                yield each, template

    def get(self, location: LocationType) -> str | None:
        """The template of one type."""
        return {
            LocationType.DATA: self.data,
            LocationType.STATS: self.stats,
            LocationType.META: self.meta,
            LocationType.TMP: self.tmp,
        }[location]

    def over(self, base: "Locations") -> "Locations":
        """These locations laid over `base`, type by type (DESIGN section 8)."""
        return Locations(
            data=self.data or base.data,
            stats=self.stats or base.stats,
            meta=self.meta or base.meta,
            tmp=self.tmp or base.tmp,
        )
