"""The example with which the help of a command begins; it is loaded when help is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_T, _DAY = "2026-03-20T12:00Z", "--start 2026-03-20T00:00Z --end 2026-03-21T00:00Z"
_JOB = "--process clicks_hourly_job --cluster primary"

EXAMPLES: Mapping[str, str] = {
    "": "feedctl init my-feeds && cd my-feeds && feedctl lint",
    "status": "feedctl status --stale",
    "page": "feedctl page --out /var/www/feeds --env prod",
    "metrics": "feedctl metrics --textfile /var/lib/node_exporter/textfile/feedctl.prom",
    "outbox": "feedctl outbox list",
    "outbox list": "feedctl outbox list --state dead --channel mail",
    "outbox show": "feedctl outbox show 7",
    "outbox retry": "feedctl outbox retry --channel mail",
    "outbox drop": "feedctl outbox drop 7 8",
    "backfill": f"feedctl backfill clicks_hourly_job {_DAY}",
    "doctor": "feedctl doctor --cluster primary",
    "dev": "feedctl dev metastore /tmp/metastore",
    "dev metastore": "feedctl dev metastore /tmp/metastore --port 9084",
    "alert": "feedctl alert list",
    "alert list": "feedctl alert list --all",
    "alert show": "feedctl alert show 17",
    "alert ack": 'feedctl alert ack 17 --reason "the source is down until noon"',
    "alert silence": 'feedctl alert silence --match cluster=backup --until 2026-03-21T06:00Z --reason "maintenance"',
    "alert silences": "feedctl alert silences",
    "alert unsilence": "feedctl alert unsilence 3",
    "monitor": f"feedctl monitor --time {_T}",
    "sla": "feedctl sla status",
    "sla status": "feedctl sla status --state missing",
    "sla alerts": f"feedctl sla alerts {_DAY} --feed clicks",
    "sla backlog": "feedctl sla backlog --all",
    "sla explain": f"feedctl sla explain clicks --cluster primary --time {_T}",
    "verify": f"feedctl verify clicks --cluster backup --time {_T}",
    "restore": f"feedctl restore clicks --instance {_T} --dry-run",
    "lint": "feedctl lint --all-envs",
    "init": "feedctl init my-feeds --minimal",
    "schema": "feedctl schema feed",
    "entrypoint": "feedctl entrypoint retention",
    "entity": "feedctl entity show clicks",
    "entity diff": "feedctl entity diff origin/main --env prod",
    "entity new": "feedctl entity new feed orders",
    "entity status": "feedctl entity status clicks",
    "entity suspend": 'feedctl entity suspend clicks --cluster backup --reason "disk is full"',
    "entity resume": "feedctl entity resume clicks --cluster backup",
    "entity touch": "feedctl entity touch clicks_hourly_job",
    "entity list": "feedctl entity list --kind feed --tag team=web",
    "entity show": "feedctl entity show clicks --env prod --origins",
    "entity dependencies": "feedctl entity dependencies clicks --transitive",
    "entity lookup": "feedctl entity lookup --path /data/clicks/2026/03/20/12",
    "instance": f"feedctl instance triage clicks_hourly_job --time {_T}",
    "instance params": f"feedctl instance params clicks_hourly_job --time {_T}",
    "instance status": f"feedctl instance status clicks_hourly_job {_DAY}",
    "instance running": "feedctl instance running clicks_hourly_job",
    "instance list": f"feedctl instance list clicks {_DAY} --planned",
    "instance summary": f"feedctl instance summary clicks_hourly_job {_DAY}",
    "instance logs": f"feedctl instance logs clicks_hourly_job --time {_T}",
    "instance dependencies": f"feedctl instance dependencies clicks --time {_T}",
    "instance triage": f"feedctl instance triage clicks_hourly_job --time {_T}",
    "instance suspend": f"feedctl instance suspend clicks_hourly_job --time {_T}",
    "instance resume": f"feedctl instance resume clicks_hourly_job --time {_T}",
    "instance kill": f"feedctl instance kill clicks_hourly_job --time {_T}",
    "instance rerun": f"feedctl instance rerun clicks_hourly_job --time {_T} --force",
    "mirror": "feedctl mirror list",
    "mirror list": "feedctl mirror list",
    "mirror describe": "feedctl mirror describe hdfs_snapshot",
    "mirror define": "feedctl mirror define hdfs --name manuals",
    "mirror instances": "feedctl mirror instances manuals",
    "ledger": "feedctl ledger status",
    "ledger sync": "feedctl ledger sync",
    "ledger upgrade": "feedctl ledger upgrade",
    "ledger prune": "feedctl ledger prune --older-than 'days(90)' --dry-run",
    "ledger status": "feedctl ledger status --output json",
    "run": f"feedctl run init-job {_JOB}",
    "run init-job": f"feedctl run init-job {_JOB} --time {_T}",
    "run halt-job": f"feedctl run halt-job {_JOB} --time {_T}",
    "run term-job": f"feedctl run term-job {_JOB} --time {_T}",
    "run init-step": f"feedctl run init-step {_JOB} --step main",
    "run halt-step": f"feedctl run halt-step {_JOB} --step main",
    "run term-step": f"feedctl run term-step {_JOB} --step main",
    "run get-files": "feedctl run get-files --run 17",
    "run get-etl-driver": "feedctl run get-etl-driver --min-batch 100 --max-batch 120",
    "run get-properties": f"feedctl run get-properties {_JOB}",
    "run register-file": "feedctl run register-file --server nn1 --path /in/a.csv --size 2048",
    "run enqueue": "feedctl run enqueue --source crm --cluster primary --server nn1 --path /in/a.csv --size 2048",
    "run log": "feedctl run log read --run 17",
    "run log write": 'feedctl run log write "1,204 rows" --category counts --run 17',
    "run log read": "feedctl run log read --run 17",
    "el": f'feedctl el eval "today(0,0)" --time {_T}',
    "el eval": f'feedctl el eval "yesterday(0,0)" --time {_T} --timezone Europe/Berlin',
    "dataset": "feedctl dataset list",
    "dataset list": "feedctl dataset list",
    "dataset show": "feedctl dataset show s3://shop/prices",
    "dataset graph": "feedctl dataset graph --output mermaid",
    "dataset gc": "feedctl dataset gc --dry-run",
    "lineage": "feedctl lineage entity clicks",
    "lineage entity": "feedctl lineage entity clicks --down --output mermaid",
    "lineage instance": f"feedctl lineage instance clicks_hourly --time {_T} --up",
    "lineage path": "feedctl lineage path /data/clicks_hourly/2026-03-20/01 --down",
    "lineage impact": f"feedctl lineage impact clicks --time {_T} --output commands",
    "lineage ship": "feedctl lineage ship",
    "lineage column": "feedctl lineage column web.clicks_by_country.clicks --up",
    "event": f"feedctl event emit s3://shop/prices --time {_T}",
    "event emit": f"feedctl event emit s3://shop/prices --time {_T} --id upload-4711",
    "event retract": f"feedctl event retract s3://shop/prices --time {_T}",
    "event list": "feedctl event list s3://shop/prices --limit 20",
    "explain": f"feedctl explain trigger clicks_hourly_job --time {_T}",
    "explain trigger": f"feedctl explain trigger clicks_hourly_job --time {_T}",
    "hold": 'feedctl hold add clicks --reason "incident 4711"',
    "hold add": f'feedctl hold add clicks {_DAY} --reason "incident 4711"',
    "hold list": "feedctl hold list",
    "hold remove": "feedctl hold remove 3",
    "admin": 'feedctl admin safe-mode on --reason "name node upgrade"',
    "admin safe-mode": 'feedctl admin safe-mode on --reason "name node upgrade"',
    "admin safe-mode on": 'feedctl admin safe-mode on --reason "name node upgrade"',
    "admin safe-mode off": "feedctl admin safe-mode off",
    "admin safe-mode status": "feedctl admin safe-mode status",
    "retention": f"feedctl retention plan --feed clicks --time {_T}",
    "retention plan": f"feedctl retention plan --feed clicks --time {_T}",
    "retention explain": f"feedctl retention explain clicks --instance 2026-03-09T23:00Z --time {_T}",
    "plan": "feedctl plan show plan.json --output markdown",
    "plan show": "feedctl plan show plan.json --output markdown",
    "migrate": "feedctl migrate falcon entities.xml --into my-feeds --dry-run",
    "migrate falcon": "feedctl migrate falcon entities.xml --into my-feeds --dry-run",
    "export": "feedctl export cron --env prod",
    "export cron": "feedctl export cron --env prod --into feeds.crontab",
    "export oozie": "feedctl export oozie --env prod --into oozie",
    "export airflow": "feedctl export airflow --env prod --into dags",
    "table": "feedctl table diff clicks_by_country --first primary --second backup",
    "table diff": "feedctl table diff clicks_by_country --first primary --second backup",
    "quality": f"feedctl quality show clicks_hourly --time {_T}",
    "quality show": f"feedctl quality show clicks_hourly --time {_T}",
    "quality history": "feedctl quality history clicks_hourly --expectation expect_column_values_to_be_between",
    "quality release": f'feedctl quality release clicks_hourly --time {_T} --reason "shop was shut"',
    "quality reject": f'feedctl quality reject clicks_hourly --time {_T} --reason "half a file"',
}
"""By the words of the command; empty: the program itself. Names are those of the template's config repo."""

ACTIONS: Mapping[str, str] = {
    "compact": f"--all --cluster primary --time {_T}",
    "db_export": f"--feed customers --cluster primary --time {_T}",
    "db_import": f"--feed customers --cluster primary --time {_T}",
    "doctor": "--spark --cluster primary",
    "hive_export": f"--feed clicks_by_country --time {_T} --to hdfs://nn:8020/exports",
    "hive_import": f"--feed clicks_by_country --time {_T} --from hdfs://nn:8020/exports",
    "hive_replication": f"--feed clicks_by_country --target backup --time {_T}",
    "ingest": f"--feed clicks --cluster primary --time {_T}",
    "late_check": f"--due --all --cluster primary --time {_T}",
    "monitor": f"--time {_T}",
    "process": f"--process clicks_hourly_job --time {_T} --dry-run",
    "mirror": f"--mirror manuals --time {_T} --dry-run",
    "replication": f"--feed clicks --target backup --time {_T} --dry-run",
    "retention": f"--feed clicks --time {_T} --dry-run",
    "trigger": f"--due --cluster primary --time {_T}",
    "validate": f"--feed clicks_hourly --cluster primary --time {_T}",
}
"""Options of an action, by its entrypoint; they come behind the script."""


def example_of(words: Sequence[str], program: str) -> str:
    """Return the example of a command, in lines that fit a terminal; empty: there is none.

    Args:
        words: of the command, without the program.
        program: its name, which of an entrypoint is that of its script.
    """
    if not program.endswith(_SCRIPT):
        return _folded(EXAMPLES.get(" ".join(words), ""))
    action = program.removesuffix(_SCRIPT)
    return _folded(f'spark-submit "$(feedctl entrypoint {action})" {ACTIONS[action]}') if action in ACTIONS else ""


_SCRIPT = ".py"
_WIDTH = 74


def _folded(command: str) -> str:
    """Return a command with line ends before options, as a shell reads it."""
    lines = [""]
    for part in command.replace(" --", "\n--").splitlines():
        if lines[-1] and len(f"{lines[-1]} {part}") > _WIDTH:
            lines[-1] += " \\"
            lines.append(f"  {part}")
        else:
            lines[-1] = f"{lines[-1]} {part}".lstrip() if len(lines) == 1 else f"{lines[-1]} {part}"
    return "\n".join(lines)


def add_example(command: Any, argv: Sequence[str], program: str) -> None:  # noqa: ANN401 - typer exports no base of both
    """Let the help of the command that the arguments name begin with its example, behind what it is for.

    Args:
        command: of the program, with all that the arguments need.
        argv: the arguments.
        program: as for `example_of`.
    """
    words: list[str] = []
    for word in argv:
        below = getattr(command, "commands", {})
        if word not in below:
            break
        command = below[word]
        words.append(word)
    example = example_of(words, program)
    if not example:
        return
    purpose, blank, more = (command.help or "").partition("\n\n")
    mark = "\b\n" if command.rich_markup_mode is None else ""  # plain help would fill the lines up
    shown = "\n".join(f"  {line}" for line in example.splitlines())
    command.help = f"{purpose}\n\n{mark}Example:\n{shown}{blank}{more}"
