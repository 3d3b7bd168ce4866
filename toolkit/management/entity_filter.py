"""Filter of feeds, processes and datasets by owner, tags, pipelines and domains."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.entities import Feed, Process
from toolkit.entities.repository import Repository


@dataclass(frozen=True, kw_only=True, slots=True)
class EntityFilter:
    """Filter of feeds, processes and datasets; a field that is not given does not restrict.

    Datasets have only an owner, so that each other restriction leaves them out.

    Attributes:
        owner: of this owner.
        tags: with all these tags.
        pipelines: in one of these; a feed is in the pipelines of the processes that write or read it.
        domains: of one of these; a feed is of the domains of the processes that write it.
    """

    owner: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    pipelines: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()

    @property
    def takes_all(self) -> bool:
        """True if nothing is restricted."""
        return self == EntityFilter()

    def names(self, repository: Repository) -> frozenset[str]:
        """Return the names of the feeds and processes that it takes, and the URIs of datasets."""
        pipelines, domains = _pipelines(repository), _domains(repository)
        entities: list[Feed | Process] = [*repository.feeds.values(), *repository.processes.values()]
        takes_datasets = not (self.tags or self.pipelines or self.domains)
        datasets = (uri for uri, each in repository.datasets.items() if self.owner in {None, each.owner})
        return frozenset(datasets if takes_datasets else ()) | frozenset(
            each.name
            for each in entities
            if self._takes(each)
            and (not self.pipelines or not pipelines.get(each.name, set()).isdisjoint(self.pipelines))
            and (not self.domains or not domains.get(each.name, set()).isdisjoint(self.domains))
        )

    def _takes(self, entity: Feed | Process) -> bool:
        return self.owner in {None, entity.owner} and all(
            entity.tags.get(key) == value for key, value in self.tags.items()
        )


def _pipelines(repository: Repository) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for process in repository.processes.values():
        read, written = process.inputs.values(), process.outputs.values()
        for name in (process.name, *(each.feed for each in read), *(each.feed for each in written)):
            found.setdefault(name, set()).update(process.pipelines)
    return found


def _domains(repository: Repository) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for process in repository.processes.values():
        for name in (process.name, *(each.feed for each in process.outputs.values())):
            found.setdefault(name, set()).update({process.domain} if process.domain else ())
    return found
