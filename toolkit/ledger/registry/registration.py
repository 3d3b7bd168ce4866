"""What a config repo registers in the ledger: plain values, before anything is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.ledger.vocabulary import ProcessKind


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Site:
    """A process, or a feed that enqueues, on one cluster: what the ledger calls a process (BDRE, PROCESS)."""

    name: str
    cluster: str

    def __str__(self) -> str:
        return f"{self.name} on {self.cluster}"


@dataclass(frozen=True, kw_only=True, slots=True)
class StepEntry:
    """A step, with what it reads and from whom.

    Attributes:
        name: within its process.
        position: from 0, the order in which the steps run.
        engine: what runs it; None: the process says no more.
        path: what is run.
        is_recoverable: a rerun keeps its success.
        feeds: the feeds that it reads.
        upstreams: who enqueues for it on the same cluster, by name; the value says whether no job waits for it.
    """

    name: str
    position: int
    engine: str | None = None
    path: str | None = None
    is_recoverable: bool = True
    feeds: frozenset[str] = frozenset()
    upstreams: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessEntry:
    """A process on one cluster, or a feed there that no process makes.

    Attributes:
        site: its name and cluster.
        domain: business domain.
        digest: of the merged entity.
        steps: in the order in which they run; a feed has none.
        properties: value by key.
    """

    site: Site
    kind: ProcessKind
    domain: str | None = None
    description: str | None = None
    digest: str
    steps: tuple[StepEntry, ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ServerEntry:
    """Where files can be.

    Attributes:
        kind: ``cluster`` or ``datasource``.
        endpoint: where it answers, without user, password and options.
    """

    name: str
    kind: str
    endpoint: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Registration:
    """All that one state of a config repo registers.

    Attributes:
        snapshot: the state of the config repo.
        elsewhere: clusters of the repo that its environment may not act on; what is registered there stays as it is.
    """

    snapshot: str
    processes: tuple[ProcessEntry, ...]
    servers: tuple[ServerEntry, ...]
    elsewhere: frozenset[str] = frozenset()


def config_group(key: str) -> str:
    """The group of a property: its key up to the first dot, else ``default`` (BDRE, PROPERTIES)."""
    return key.partition(".")[0] if "." in key else "default"
