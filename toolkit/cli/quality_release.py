"""Publishing what was released: by the action that wrote it, which finds the decision in the ledger."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.model import D, I, T
from toolkit.actions.selection import NO_FEED, EntitySelection
from toolkit.cli.action_command import Run, nominal_time_of
from toolkit.cli.action_flags import RunFlags
from toolkit.cli.streams import say
from toolkit.clock import SystemClock
from toolkit.el import format_instant
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.rendering.tables import ResultFormat
from toolkit.runs.recorder import current_user

if TYPE_CHECKING:
    from toolkit.cli.flags import AnswerFlags
    from toolkit.quality.decision_targets import DecisionTarget
    from toolkit.rendering.action_result import ActionView


def publish(decided: DecisionTarget, repo: AnswerFlags) -> int:
    """Run the action for the instance, and deliver its result; the exit code.

    An import cannot be run here, since only its caller knows where the exports are: its command is said.
    """
    found = decided.found
    now = format_instant(SystemClock().now().replace(second=0, microsecond=0))

    flags = RunFlags(config_repo=repo.config_repo, env=repo.env, output=ResultFormat(repo.output.value))

    def execute(
        name: str, run: Run[T, I, D], view: ActionView[T, I, D], time: str, selection: EntitySelection = NO_FEED
    ) -> int:
        command = flags.command(name, run, view)
        with command.failures_delivered():
            return command.execute(flags.options(nominal_time_of(time), selection))

    say(f"feedctl: {found.unit} is released by {current_user()}, for exactly the data {found.data_digest[:12]}")
    if found.life_cycle is LifeCycle.EXECUTION and decided.run_key is not None:
        from toolkit.bootstrap.process import ProcessOptions, run_processes
        from toolkit.process_runner import targets
        from toolkit.process_runner.selection import ProcessSelection
        from toolkit.rendering.process import PROCESS_VIEW

        own = ProcessOptions(selection=ProcessSelection(name=found.entity, cluster=found.cluster))
        return execute(targets.NAME, partial(run_processes, own), PROCESS_VIEW, decided.run_key)
    if found.life_cycle is LifeCycle.REPLICATION:
        from toolkit.bootstrap.replication import ReplicationOptions

        of_feed = EntitySelection(names=(found.feed,), clusters=(found.cluster,))
        copied = ReplicationOptions(source=found.counterpart or None, start=found.instance_key)
        if decided.feed.is_table:
            from toolkit.bootstrap.hive import replicate_tables
            from toolkit.hive.targets import REPLICATION, ImportRules
            from toolkit.rendering.hive import HIVE_VIEW

            return execute(REPLICATION, partial(replicate_tables, copied, ImportRules()), HIVE_VIEW, now, of_feed)
        from toolkit.bootstrap.replication import replicate
        from toolkit.rendering.replication import REPLICATION_VIEW
        from toolkit.replication import NAME

        return execute(NAME, partial(replicate, copied), REPLICATION_VIEW, now, of_feed)
    is_table, which = decided.feed.is_table, f"--start {found.instance_key} --time {now}"
    if found.unit.startswith("catalog:"):
        which = f"--whole-table --time {found.instance_key}"
    script, exports = ("hive_import", " --from <the directory of the exports>") if is_table else ("db_import", "")
    script = f'"$(feedctl entrypoint {script})"'
    print(f"it is published by: spark-submit {script} --feed {found.feed} --cluster {found.cluster} {which}{exports}")
    return 0
