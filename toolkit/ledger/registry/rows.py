"""Rows of the registry."""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.ledger.registry.registration import Site
from toolkit.ledger.vocabulary import ProcessKind


@dataclass(frozen=True, kw_only=True, slots=True)
class RegisteredProcess:
    """A row of the table `process`, where the columns are explained."""

    process_id: int
    kind: ProcessKind
    name: str
    cluster: str
    domain: str | None
    description: str | None
    is_deleted: bool
    digest: str
    snapshot: str

    @property
    def site(self) -> Site:
        """Its name and cluster."""
        return Site(name=self.name, cluster=self.cluster)


@dataclass(frozen=True, kw_only=True, slots=True)
class RegisteredStep:
    """A row of the table `step`, where the columns are explained."""

    step_id: int
    process_id: int
    name: str
    position: int
    engine: str | None
    path: str | None
    is_recoverable: bool
    is_deleted: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessProperty:
    """A property of a process (BDRE, PROPERTIES)."""

    key: str
    config_group: str
    value: str
