"""Publishing what was released: by the action that wrote it, which finds the decision in the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.choosing import NO_FEED, EntitySelection
from toolkit.bootstrap.action_context import ActionOptions
from toolkit.cli.action_command import ActionCommand, nominal_time_of
from toolkit.cli.options import Output
from toolkit.cli.streams import say
from toolkit.clock import SystemClock
from toolkit.el import format_instant
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.rendering.tables import ResultFormat

if TYPE_CHECKING:
    from toolkit.bootstrap.deciding import Decided
    from toolkit.bootstrap.replication import ReplicationOptions
    from toolkit.ledger.verdicts import Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class _Wanted:
    """What is run.

    Attributes:
        verdict: on what is released.
        time: the nominal time of the run.
        config_repo, env, form: as the user said.
    """

    verdict: Verdict
    time: str
    config_repo: str | None
    env: str | None
    form: ResultFormat

    def options(self, selection: EntitySelection) -> ActionOptions:
        return ActionOptions(
            selection=selection,
            config_repo=self.config_repo,
            environment=self.env,
            nominal_time=nominal_time_of(self.time),
            dry_run=False,
            allow_dirty=False,
        )

    @property
    def of_feed(self) -> EntitySelection:
        return EntitySelection(names=(self.verdict.feed,), clusters=(self.verdict.cluster,))


def publish(decided: Decided, config_repo: str | None, env: str | None, output: Output) -> int:
    """Run the action for the instance, and deliver its result; the exit code.

    An import cannot be run here, since only its caller knows where the exports are: its command is said.
    """
    found, form = decided.verdict, ResultFormat(output.value)
    say(f"feedctl: {found.unit} is released by {decided.who}, for exactly the data {found.data_digest[:12]}")
    now = format_instant(SystemClock().now().replace(second=0, microsecond=0))
    if found.life_cycle is LifeCycle.EXECUTION and decided.run_key is not None:
        return _process(_Wanted(verdict=found, time=decided.run_key, config_repo=config_repo, env=env, form=form))
    if found.life_cycle is LifeCycle.REPLICATION:
        wanted = _Wanted(verdict=found, time=now, config_repo=config_repo, env=env, form=form)
        return _copy(wanted, is_table=decided.is_table)
    which = f"--start {found.instance_key} --time {now} --from <the directory of the exports>"
    if found.unit.startswith("catalog:"):
        which = f"--whole-table --time {found.instance_key} --from <the directory of the export>"
    print(
        f'it is published by: spark-submit "$(feedctl entrypoint hive_import)" --feed {found.feed} '
        f"--cluster {found.cluster} {which}"
    )
    return 0


def _process(wanted: _Wanted) -> int:
    from toolkit.bootstrap.process import ProcessOptions, run_processes
    from toolkit.process_runner.choosing import ProcessSelection
    from toolkit.process_runner.targets import NAME
    from toolkit.rendering.process import PROCESS_VIEW

    selection = ProcessSelection(name=wanted.verdict.entity, cluster=wanted.verdict.cluster)
    own = ProcessOptions(selection=selection)
    command = ActionCommand(name=NAME, run=partial(run_processes, own), view=PROCESS_VIEW, form=wanted.form, file=None)
    with command.failures_delivered():
        return command.execute(wanted.options(NO_FEED))


def _copy(wanted: _Wanted, *, is_table: bool) -> int:
    from toolkit.bootstrap.replication import ReplicationOptions

    found = wanted.verdict
    own = ReplicationOptions(source=found.counterpart or None, start=found.instance_key)
    return _copied_table(wanted, own) if is_table else _copied_files(wanted, own)


def _copied_files(wanted: _Wanted, own: ReplicationOptions) -> int:
    from toolkit.bootstrap.replication import replicate
    from toolkit.rendering.replication import REPLICATION_VIEW
    from toolkit.replication import NAME

    run = partial(replicate, own)
    command = ActionCommand(name=NAME, run=run, view=REPLICATION_VIEW, form=wanted.form, file=None)
    with command.failures_delivered():
        return command.execute(wanted.options(wanted.of_feed))


def _copied_table(wanted: _Wanted, own: ReplicationOptions) -> int:
    from toolkit.bootstrap.hive import replicate_tables
    from toolkit.hive.targets import REPLICATION, LandingRules
    from toolkit.rendering.hive import HIVE_VIEW

    run = partial(replicate_tables, own, LandingRules())
    command = ActionCommand(name=REPLICATION, run=run, view=HIVE_VIEW, form=wanted.form, file=None)
    with command.failures_delivered():
        return command.execute(wanted.options(wanted.of_feed))
