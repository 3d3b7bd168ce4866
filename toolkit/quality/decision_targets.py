"""Targets of decisions on blocked data: the instance, the places that are removed, and the decision itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from toolkit.actions.model import TargetPlan

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster, Feed
    from toolkit.ledger.database import Ledger
    from toolkit.ledger.runs.leases import Wanted
    from toolkit.ledger.validations import ValidationResult
    from toolkit.ledger.vocabulary import ValidationState


@dataclass(frozen=True, kw_only=True)
class Decision:
    """Decision of a person, and where it is recorded.

    Attributes:
        state: `ValidationState.RELEASED` or `ValidationState.REJECTED`.
        reason: of the person.
        ledger: has the validation results.
        tell_page: adds the decision to the page of the result.
    """

    state: ValidationState
    reason: str
    ledger: Ledger
    tell_page: Callable[[ValidationResult], None]


class InstancePlaces(Protocol):
    """The places of one instance of a feed, computed from the config repo and the metastore."""

    def named(self, unit: str, written: str) -> list[CanonicalPath]:
        """Return the places that a validation result names, a line each.

        Raises:
            CannotDecide: one of them is not a place of the instance.
            CatalogError: the metastore cannot tell.
        """
        ...

    @property
    def bases(self) -> tuple[CanonicalPath, ...]:
        """The directories in which a hold file counts."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionTarget:
    """Blocked data of an instance.

    Attributes:
        found: the validation result that is decided, as it was read before the run started.
        feed: whose data they are.
        on: the cluster.
        leases: those of the action that wrote the data.
        places: of the instance.
        run_key: of the run that wrote the data: its instance, or its nominal time; None: unknown.
    """

    found: ValidationResult
    feed: Feed
    on: Cluster
    leases: tuple[Wanted, ...]
    places: InstancePlaces
    run_key: str | None

    @property
    def entity(self) -> str:
        """The feed."""
        return self.found.feed

    @property
    def cluster(self) -> str:
        """Name of the cluster."""
        return self.found.cluster

    @property
    def counterpart(self) -> str:
        """The cluster that a copy came from."""
        return self.found.counterpart

    @property
    def instance_key(self) -> str:
        """The instance."""
        return self.found.instance_key


@dataclass(frozen=True, kw_only=True, slots=True)
class Removal:
    """Removal of staged data, or on a store without renames of a copy without the flag in its place.

    Attributes:
        place: where the data are.
        unit: where they would be published.
        base: bounds every effect.
        top: see `staging_place`.
    """

    place: CanonicalPath
    unit: CanonicalPath
    base: CanonicalPath
    top: CanonicalPath | None


@dataclass(frozen=True, kw_only=True, slots=True)
class QualityItem:
    """The release or the validation of a unit, or the removal of one of the places of rejected data."""

    kind: str
    instance_key: str
    uri: str
    removal: Removal | None = None

    @property
    def identity(self) -> tuple[str, ...]:
        """The kind and the place of the item."""
        return (self.kind, self.uri)


DecisionPlan = TargetPlan[DecisionTarget, QualityItem, str]
"""Its detail is the digest of the data as it is now; empty: an interrupted removal goes on."""


def removed_places(plan: DecisionPlan) -> list[str]:
    """Return the places whose data a decision removes."""
    return [each.uri for each in plan.items if each.removal is not None]
