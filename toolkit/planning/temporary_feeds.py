"""Temporary data: feeds whose every writer marks them with `scope: run`, and the inputs that read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

from toolkit.entities.trigger_vocabulary import OutputScope
from toolkit.planning.process_io import depends_on_availability

if TYPE_CHECKING:
    from toolkit.entities import Repository
    from toolkit.entities.documents import Document
    from toolkit.planning.process_io import ProcessSite


@dataclass(frozen=True, kw_only=True)
class TemporaryFeeds:
    """Temporary feeds of a config repo.

    Attributes:
        repository: all entities.
    """

    repository: Repository

    def has(self, feed: str, cluster: str) -> bool:
        """Return whether each process that writes a feed on a cluster marks it with `scope: run`, and one does."""
        return self._scopes.get((feed, cluster)) == {OutputScope.RUN}

    def inputs_of(self, site: ProcessSite) -> frozenset[str]:
        """Return the inputs of a process by which retention finds what was read: of temporary feeds, by fixed times."""
        return frozenset(
            name
            for name, each in site.process.inputs.items()
            if self.has(each.feed, site.cluster.name) and not depends_on_availability(each)
        )

    @cached_property
    def _scopes(self) -> Mapping[tuple[str, str], set[OutputScope]]:
        found: dict[tuple[str, str], set[OutputScope]] = {}
        if not any(_marks_one(each) for _, each in self.repository.process_documents()):
            return found
        for process in self.repository.processes.values():
            for output, on in product(process.outputs.values(), process.clusters):
                found.setdefault((output.feed, on.name), set()).add(output.scope)
        return found


def _marks_one(process: Document) -> bool:
    """Return whether a process marks an output as temporary; where none does, no process is made to know it."""
    outputs = process.get("outputs")
    each = outputs.values() if isinstance(outputs, Mapping) else ()
    return any(isinstance(output, Mapping) and output.get("scope") == OutputScope.RUN for output in each)
