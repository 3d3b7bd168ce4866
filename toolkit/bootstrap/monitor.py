"""Pass of the monitor, wired: config repo, ledger, stores that others write, sources of conditions, channels."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from toolkit.actions.approval import refuse_future
from toolkit.bootstrap.config import RepoRequest, load_repository
from toolkit.bootstrap.doctor import DoctorOptions, diagnose
from toolkit.bootstrap.ingested_data import data_access
from toolkit.bootstrap.ledger_outage import LedgerOutage
from toolkit.bootstrap.ledgers import ledger_and_repository
from toolkit.bootstrap.messages import deliver
from toolkit.bootstrap.storages import StoreChoice
from toolkit.doctor.findings import CheckStatus
from toolkit.ledger.errors import LedgerUnavailable
from toolkit.monitoring.doctor_conditions import DoctorConditions, FailedCheck
from toolkit.monitoring.evidence import look_at_stores
from toolkit.monitoring.ledger_conditions import LedgerConditions
from toolkit.monitoring.monitor import Monitor, MonitorReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from toolkit.availability import DataAccess
    from toolkit.clock import Clock
    from toolkit.el import CanonicalPath
    from toolkit.entities import Repository
    from toolkit.monitoring.evidence import Looks
    from toolkit.monitoring.monitor import ConditionSource
    from toolkit.monitoring.series import FeedSeries
    from toolkit.runs.stop import StopSignal
    from toolkit.storage import FileSystem
    from toolkit.variables import Variables


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitorOptions:
    """Options of a pass.

    Attributes:
        nominal_time: of the pass.
        repo: the config repo, and the variables of the process.
        send: send what waits in the outbox afterwards.
        doctor: check the installation as well.
    """

    nominal_time: datetime
    repo: RepoRequest
    send: bool = True
    doctor: bool = False


def run_monitor(options: MonitorOptions, clock: Clock, process: StopSignal) -> MonitorReport:
    """Decide as of the nominal time, record what follows, and send the messages that wait.

    Args:
        options: by the user.
        clock: tells the wall-clock time.
        process: ends the waiting for stores.

    Raises:
        InvalidInput: a future time, an unusable config repo, no ledger.
        LedgerUnavailable: the ledger cannot be used now.
        Stopped: the process was told to stop.
    """
    refuse_future(options.nominal_time, clock.now())
    try:
        report, repository = _pass(options, clock, process)
    except LedgerUnavailable as error:
        if options.send:
            LedgerOutage(
                repository=load_repository(options.repo), variables=options.repo.variables, now=clock.now()
            ).tell(str(error))
        raise
    if options.send:
        LedgerOutage(repository=repository, variables=options.repo.variables, now=clock.now()).end()
    return report


def _pass(options: MonitorOptions, clock: Clock, process: StopSignal) -> tuple[MonitorReport, Repository]:
    """Return the report of a pass, and the config repo that it read."""
    with ExitStack() as stack:
        ledger, repository = ledger_and_repository(options.repo, read_only=False)
        stack.enter_context(closing(ledger))

        def data(series: Iterable[FeedSeries]) -> DataAccess:
            return data_access(_stores(repository, series, process), options.repo.variables)

        monitor = Monitor(
            ledger=ledger,
            repository=repository,
            data=data,
            check=process.check,
            wall_clock=clock.now,
            sources=tuple(_sources(repository, options, clock.now())),
        )
        result = monitor.run(options.nominal_time)
        sent = deliver(repository, ledger, options.repo.variables, process) if options.send else None
        return MonitorReport(result=result, delivered=sent), repository


def look_at_feeds(
    repository: Repository,
    wanted: Sequence[tuple[FeedSeries, Sequence[datetime]]],
    variables: Variables,
    process: StopSignal,
) -> Looks:
    """Return what the stores of feeds have of some instances.

    Raises:
        Stopped: the process was told to stop.
    """
    if not wanted:
        return {}
    data = data_access(_stores(repository, [series for series, _ in wanted], process), variables)
    return look_at_stores(data, wanted, check=process.check)


def _sources(repository: Repository, options: MonitorOptions, now: datetime) -> Iterator[ConditionSource]:
    """Yield the sources of conditions besides SLAs."""
    yield LedgerConditions(repository=repository)
    if options.doctor:
        failed = [
            FailedCheck(
                about=each.about,
                name=each.name,
                found="; ".join(filter(None, (each.finding.what, each.finding.found, each.finding.todo))),
                is_failed=each.finding.status is CheckStatus.FAILED,
            )
            for each in diagnose(DoctorOptions(repo=options.repo), now)
            if each.finding.status in {CheckStatus.FAILED, CheckStatus.WARNING}
        ]
        yield DoctorConditions(failed=failed, tell=repository.settings.monitoring.tell)


def _stores(
    repository: Repository, series: Iterable[FeedSeries], process: StopSignal
) -> Callable[[CanonicalPath], FileSystem]:
    """Return the stores of feeds, for reading; one that several clusters may mean is reached as they all say."""
    pairs = [(each.feed, each.cluster) for each in series]
    environment = repository.environment
    choice = StoreChoice(
        clusters=tuple({cluster.name: cluster for _, cluster in pairs}.values()),
        others=[each for each in repository.clusters.values() if environment is None or environment.allows(each.name)],
        pairs=pairs,
        trusted_links=repository.settings.trusted_links,
    )
    return choice.shared().bound(process.check, read_only=True).of
