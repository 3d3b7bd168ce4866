"""Schedules of small config repos, for the tests."""

from __future__ import annotations

from collections.abc import Mapping

from tests.unit.entities.config_repo import repository
from toolkit.entities.repo import Schedules
from toolkit.errors import NotImplementedYet
from toolkit.planning.process_io import ProcessSite
from toolkit.schedules.actions import ActionKind, Schedule, ScheduledAction
from toolkit.schedules.scheduler import Scheduler

SETTINGS = Schedules(entrypoints="/opt/entrypoints/", config_repo="/srv/feeds")


def scheduled(
    texts: Mapping[str, str | None] | None = None,
    settings: Schedules = SETTINGS,
    *requested: str,
    refused: Mapping[str, NotImplementedYet] | None = None,
    environment: str = "clusters: [primary]\n",
) -> Schedule:
    """The schedule of the environment prod of a repo with the cluster primary, a feed and a process."""
    files = {"repo.yaml": "name: web-feeds\nenvironments: [prod]\n", "environments/prod.yaml": environment}

    def unsupported(site: ProcessSite) -> NotImplementedYet | None:
        return (refused or {}).get(site.process.name)

    scheduler = Scheduler(
        repository=repository({**files, **(texts or {})}, "prod"),
        settings=settings,
        environment="prod",
        unsupported=unsupported,
    )
    return scheduler.schedule(requested)


def the(schedule: Schedule, kind: ActionKind) -> ScheduledAction:
    """The one action of a kind."""
    (found,) = (each for each in schedule.actions if each.kind is kind)
    return found
