"""The commands of `feedctl` by name, with their lines in the help, without loading them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import typer


class CommandEntry(NamedTuple):
    """A command, or a group of commands.

    Attributes:
        module: the module that defines it.
        attribute: the function of a command, the `typer.Typer` of a group.
        help: its line in `feedctl --help`; a test compares it with its docstring.
    """

    module: str
    attribute: str
    help: str

    def add_to(self, program: typer.Typer, name: str) -> None:
        """Load the command and add it to a program."""
        found: Any = getattr(import_module(f"toolkit.cli.{self.module}"), self.attribute)
        if isinstance(found, typer.Typer):
            program.add_typer(found, name=name)
        else:
            program.command(name)(found)

    def add_line_to(self, program: typer.Typer, name: str) -> None:
        """Add the name and the line of help to a program that runs no command."""
        program.command(name, help=self.help, short_help=self.help)(_not_loaded)


def _not_loaded() -> None:
    """Take no arguments: this stands for a command in the help alone."""


COMMANDS: Mapping[str, CommandEntry] = {
    "status": CommandEntry(
        "status",
        "status",
        "Show what runs, waits, is late, failed in the last 24 hours and is due next, on each cluster.",
    ),
    "metrics": CommandEntry(
        "metrics",
        "metrics",
        "Print metrics of runs, SLAs, alerts and messages, write them to a file, or send them; exit code 1: no ledger.",
    ),
    "page": CommandEntry(
        "page",
        "page",
        "Write static pages of clusters, feeds, processes and validation results; only those that changed.",
    ),
    "backfill": CommandEntry(
        "backfill",
        "backfill",
        "Run the instances of a process from --start up to --end that have not succeeded yet.",
    ),
    "doctor": CommandEntry(
        "doctor",
        "doctor",
        "Check this machine, the clusters, tokens and the ledger, and change nothing; exit code 1: a check failed.",
    ),
    "verify": CommandEntry(
        "verify",
        "verify",
        "Read the files of a target again and compare them with what was copied; exit code 4: something differs.",
    ),
    "restore": CommandEntry(
        "restore",
        "restore",
        "Bring back instances that retention has put into quarantine; exit code 4: something is in the place of one.",
    ),
    "monitor": CommandEntry(
        "monitor",
        "monitor",
        "Look for late data and failures, record and tell them; exit code 4: something is unknown or not delivered.",
    ),
    "lint": CommandEntry(
        "lint",
        "lint",
        "Check the config repo: exit code 1 when there is an error or a warning that nothing accepts.",
    ),
    "init": CommandEntry("shipped", "create", "Make a config repo from a template, as a git repository."),
    "schema": CommandEntry(
        "shipped",
        "print_schema",
        "Print the JSON Schema of a kind of file, or of what feedctl prints and writes for programs.",
    ),
    "entrypoint": CommandEntry(
        "shipped",
        "print_entrypoint",
        'Print the path of an action\'s script: spark-submit "$(feedctl entrypoint retention)" ...',
    ),
    "entity": CommandEntry(
        "entity",
        "app",
        "List, show, compare, look up and add entities; suspend and resume feeds and processes.",
    ),
    "instance": CommandEntry(
        "instance",
        "app",
        "Show the instances of feeds and processes: planned, running and over; suspend, kill and rerun them.",
    ),
    "mirror": CommandEntry(
        "mirror",
        "app",
        "List and describe types of mirrors, write a new mirror, and show the instances of one.",
    ),
    "ledger": CommandEntry(
        "ledger",
        "app",
        "Manage the ledger: the SQL database of runs, leases, batches and events.",
    ),
    "run": CommandEntry(
        "run",
        "app",
        "Record in the ledger what a workflow does: its jobs, their steps, batches and files. Every answer is JSON.",
    ),
    "el": CommandEntry("el", "app", "Evaluate expressions of the expression language."),
    "dataset": CommandEntry("dataset", "app", "Show datasets: feeds, and data that feedctl does not manage."),
    "lineage": CommandEntry(
        "lineage",
        "app",
        "Show who makes what from what: entities, instances and columns, and what bad data has reached.",
    ),
    "event": CommandEntry("event", "app", "Announce updates of data that others write, retract them, and list events."),
    "explain": CommandEntry(
        "explain",
        "app",
        "Explain why a trigger did, or did not, start a process; `feedctl retention explain` explains evictions.",
    ),
    "sla": CommandEntry(
        "sla", "app", "Show what is expected by SLAs, what was late and how far entities are behind, and explain why."
    ),
    "alert": CommandEntry("alert", "app", "Show alerts, acknowledge them, and keep messages of some back for a while."),
    "outbox": CommandEntry(
        "outbox", "app", "Show messages that wait, were sent or were given up; send them again or drop them."
    ),
    "hold": CommandEntry(
        "hold",
        "app",
        "Hold instances, so that retention keeps them whatever the feed says; in addition to holds.yaml.",
    ),
    "admin": CommandEntry("admin", "app", "Manage the installation as a whole."),
    "retention": CommandEntry(
        "retention",
        "app",
        "Show what retention would do, and why, and change nothing; `spark-submit` of the entrypoint evicts.",
    ),
    "plan": CommandEntry(
        "plan", "app", "Show plan files, which `--plan-out` of an action writes and `--apply-plan` applies."
    ),
    "migrate": CommandEntry("migrate", "app", "Convert entities of other systems."),
    "export": CommandEntry(
        "export",
        "app",
        "Write what a scheduler has to start, and when, from the entities and the `schedules` of the environment.",
    ),
    "table": CommandEntry("table", "app", "Compare tables of metastores."),
    "quality": CommandEntry(
        "quality",
        "app",
        "Show validation results; release or reject blocked data. The entrypoint `validate` validates by hand.",
    ),
    "dev": CommandEntry("dev", "app", "Start servers for trying feedctl on this machine; never for data of value."),
}
"""In the order of the help, which has commands first and groups after them."""
