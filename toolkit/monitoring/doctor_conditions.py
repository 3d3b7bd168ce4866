"""Conditions from the checks of `feedctl doctor` in a pass of the monitor (issue 32)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.ledger import alerts
from toolkit.ledger.vocabulary import AlertKind, AlertLevel
from toolkit.monitoring.alert_changes import AlertCondition, alert_changes

if TYPE_CHECKING:
    from toolkit.ledger.alert_rows import AlertChanges
    from toolkit.ledger.database import Transaction

_CLUSTER = "cluster "
_LONGEST_NAME = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class FailedCheck:
    """Check of an installation that found a problem.

    Attributes:
        about: what was looked at: ``driver``, ``cluster primary`` ...
        name: of the check.
        found: the problem, and what to do.
        is_failed: a use of this will fail; else it may become a problem.
    """

    about: str
    name: str
    found: str
    is_failed: bool


@dataclass(frozen=True, kw_only=True)
class DoctorConditions:
    """Conditions that the checks of this pass found.

    Attributes:
        failed: checks that found a problem.
        tell: the lowest level of which messages are sent.
    """

    failed: Collection[FailedCheck]
    tell: AlertLevel

    def changes(self, tx: Transaction, now: datetime, since: datetime | None) -> AlertChanges:
        """Return what has to change of alerts about the installation; an alert begins and ends with a pass."""
        del since
        found = alerts.open_alerts(tx, now, kinds=(AlertKind.DOCTOR,))
        return alert_changes(found, self._conditions(now), now, tell=self.tell, gone_because="the check finds nothing")

    def _conditions(self, now: datetime) -> Iterator[AlertCondition]:
        by_check: dict[tuple[str, str], list[FailedCheck]] = {}
        for each in self.failed:
            by_check.setdefault((each.about, each.name), []).append(each)
        for (about, name), of_it in by_check.items():
            yield _condition(about, name, of_it, now)


def _condition(about: str, name: str, failed: Sequence[FailedCheck], now: datetime) -> AlertCondition:
    is_of_cluster = about.startswith(_CLUSTER)
    return AlertCondition(
        kind=AlertKind.DOCTOR,
        entity="" if is_of_cluster else about,
        cluster=about.removeprefix(_CLUSTER) if is_of_cluster else "",
        instance_key=name[:_LONGEST_NAME],
        level=AlertLevel.HIGH if any(each.is_failed for each in failed) else AlertLevel.LOW,
        since=now,
        message=f"check {name} of {about}: {'; '.join(each.found for each in failed)}; `feedctl doctor` checks again",
        facts={"about": about, "check": name},
    )
