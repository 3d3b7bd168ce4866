"""A schedule for Airflow 3: one file with one DAG for each cluster and domain, in it a task for each action."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from zlib import crc32

from toolkit.schedules.actions import Schedule, ScheduledAction
from toolkit.schedules.errors import NotSayable
from toolkit.schedules.files import EVERYWHERE, Files, Mark, by_cluster
from toolkit.schedules.timetable import cron_times, least_seconds

FORM = "airflow"
_LONGEST = 60

_HEAD = '''\
"""What feedctl does, started by Airflow: a task for each action, whenever its expression says so (in UTC).

Made by `feedctl export airflow` from the config repo: change that, and export again. The ledger of feedctl knows what
is done, so nothing is retried or caught up with here. Exit code 5 skips a task; with 75 it comes again later, until
its next turn. A run that is started by hand starts all of them.
"""
'''
_IMPORTS = """
from datetime import timezone

import pendulum
from airflow.providers.standard.hooks.subprocess import SubprocessHook
from airflow.sdk import DAG, BaseSensorOperator, task
from airflow.timetables.trigger import MultipleCronTriggerTimetable

try:
    from airflow.sdk.exceptions import AirflowSkipException
except ImportError:  # Airflow 3.0
    from airflow.exceptions import AirflowSkipException

"""
_BODY = '''

def nominal_time(context):
    """The end of the data interval, in UTC; of a run without one, when it was started."""
    return (context.get("data_interval_end") or context["dag_run"].run_after).astimezone(timezone.utc)


class FeedctlAction(BaseSensorOperator):
    """Starts one action, without a shell and without templates."""

    def __init__(self, *, command, takes_time, **options):
        super().__init__(mode="reschedule", soft_fail=True, poke_interval=LOOK_AGAIN, **options)
        self.command, self.takes_time, self.process = command, takes_time, None

    def poke(self, context):
        time = ["--time", nominal_time(context).strftime("%Y-%m-%dT%H:%MZ")] if self.takes_time else []
        self.process = SubprocessHook()
        code = self.process.run_command([*self.command, *time], cwd=WORKING_DIRECTORY).exit_code
        if code == 5:
            raise AirflowSkipException("exit code 5: suspended, safe mode, or another run is at it")
        if code not in (0, 75):
            raise RuntimeError(f"exit code {code}; the lines above say why")
        return code == 0

    def on_kill(self):
        if self.process is not None:
            self.process.send_sigterm()


def has_turn(cron, at):
    """Whether an expression (of numbers, * and */n) fires at a minute."""
    now = (at.minute, at.hour, at.day, at.month, at.isoweekday() % 7)
    return all(
        field == "*" or (field[:2] == "*/" and value % int(field[2:]) == 0) or str(value) in field.split(",")
        for field, value in zip(cron.split(), now)
    )


with DAG(
    dag_id=DAG_ID,
    description=DESCRIPTION,
    schedule=MultipleCronTriggerTimetable(*sorted({each["cron"] for each in ACTIONS}), timezone="UTC"),
    start_date=pendulum.datetime(2026, 1, 1, tz="UTC"),
    catchup=False,
    default_args={"retries": 0, "max_active_tis_per_dag": 1},
    tags=["feedctl"],
):

    @task.branch
    def whose_turn(**context):
        """The tasks that this run is for; Airflow skips the others."""
        everything = context["dag_run"].run_type == "manual"
        at = nominal_time(context)
        return [each["task_id"] for each in ACTIONS if everything or has_turn(each["cron"], at)]

    turn = whose_turn()
    for each in ACTIONS:
        turn >> FeedctlAction(
            task_id=each["task_id"],
            doc=each["what"],
            command=each["command"],
            takes_time=each["takes_time"],
            timeout=each["seconds_to_next_turn"],
        )
'''


def airflow_files(schedule: Schedule) -> Files:
    """The files by path: ``ENV/CLUSTER/domain-NAME.py``, and ``actions.py`` of what has no domain.

    Raises:
        NotSayable: two domains that would have one file.
    """
    texts: dict[str, str] = {}
    for cluster, actions in by_cluster(schedule):
        mark = Mark(form=FORM, repo=schedule.repo, environment=schedule.environment, cluster=cluster)
        for domain, own in groupby(sorted(actions, key=lambda each: each.domain), key=lambda each: each.domain):
            name = f"domain-{_word(domain)}" if domain else "actions"
            path = f"{schedule.environment}/{cluster}/{name}.py"
            if path in texts:
                raise NotSayable(form="Airflow", found=[f"the domain {domain!r}, which another one is too much like"])
            texts[path] = _dag(schedule, mark, domain, tuple(own))
    return Files(form=FORM, schedule=schedule, texts=texts)


def _dag(schedule: Schedule, mark: Mark, domain: str, actions: Sequence[ScheduledAction]) -> str:
    where = () if mark.cluster == EVERYWHERE else (mark.cluster,)
    names = [_word(name) for name in (mark.environment, *where, *([domain] if domain else []))]
    place = " ".join((*where, f"({domain})" if domain else "")).strip() or "everything"
    values = {
        "DAG_ID": ".".join(("feedctl", *names)),
        "DESCRIPTION": f"feedctl on {place} in {mark.environment}",
        "WORKING_DIRECTORY": schedule.settings.working_directory,
        "LOOK_AGAIN": least_seconds(schedule.settings.look_again),
    }
    constants = "".join(f"{name} = {_literal(value)}\n" for name, value in values.items())
    table = "".join(line for each in actions for line in _lines(each))
    return f"{_HEAD}# {mark}\n{_IMPORTS}{constants}ACTIONS = [\n{table}]\n{_BODY}"


def _lines(action: ScheduledAction) -> Iterator[str]:
    values = {
        "task_id": action.name,
        "cron": str(cron_times(action.timetable, "UTC")),
        "what": action.description,
        "command": list(action.command),
        "takes_time": action.takes_time,
        "seconds_to_next_turn": action.timetable.seconds,
    }
    yield "    {\n"
    for key, value in values.items():
        yield f"        {_literal(key)}: {_literal(value)},\n"
    yield "    },\n"


def _word(text: str) -> str:
    """A name of letters, digits, ``_`` and ``-``, for identifiers and files; another text has another one."""
    word = re.sub(r"[^A-Za-z0-9_-]", "_", text)[:_LONGEST]
    return word if word == text else f"{word}-{crc32(text.encode('utf-8', 'surrogatepass')):08x}"


def _literal(value: object) -> str:
    """The one place where texts become Python: a literal of plain data, in ASCII."""
    return ascii(value)
