"""The files that a schedule becomes, and which of those that are there were made so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from toolkit.schedules.actions import Schedule, ScheduledAction

EVERYWHERE = "_all"
"""The folder of what is about no single cluster; no cluster can be named so."""

_MARK = re.compile(r"feedctl-export (?P<form>\w+) (?P<repo>[\w-]+) (?P<environment>[\w-]+) (?P<cluster>[\w-]+)")
_MARK_WITHIN = 1024
"""The mark stands within so many first characters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """Mark in a generated file, so that no other file is ever overwritten or removed.

    Attributes:
        form: ``oozie`` or ``airflow``.
        repo: name of the config repo.
        environment: its environment.
        cluster: name, or `EVERYWHERE`.
    """

    form: str
    repo: str
    environment: str
    cluster: str

    def __str__(self) -> str:
        return f"feedctl-export {self.form} {self.repo} {self.environment} {self.cluster}"


def mark_in(text: str) -> Mark | None:
    """The mark of a file; None: the file is not of an export."""
    found = _MARK.search(text[:_MARK_WITHIN])
    return None if found is None else Mark(**found.groupdict())


@dataclass(frozen=True, kw_only=True, slots=True)
class Files:
    """All files of one export.

    Attributes:
        form: ``oozie`` or ``airflow``.
        schedule: what they are made from.
        texts: by path below the folder of the export; the first folder is the environment's.
    """

    form: str
    schedule: Schedule
    texts: Mapping[str, str]

    def may_replace(self, mark: Mark | None) -> bool:
        """Return whether a file is one of this export: of its environment, and of its clusters unless those are all."""
        own = self.schedule
        if mark is None or (mark.form, mark.repo, mark.environment) != (self.form, own.repo, own.environment):
            return False
        return own.is_whole or mark.cluster in {*own.clusters, EVERYWHERE}


def by_cluster(schedule: Schedule) -> Iterator[tuple[str, Sequence[ScheduledAction]]]:
    """The actions of each cluster, and last those of none, by the names of their folders."""
    for name, actions in groupby(schedule.actions, key=lambda each: each.cluster):
        yield name or EVERYWHERE, tuple(actions)
