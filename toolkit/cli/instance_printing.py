"""Printing instances, and what a command did to them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from toolkit.cli.options import Output, print_json
from toolkit.rendering.instances import answer_document, answer_table, instance_document, instance_table
from toolkit.rendering.tables import STATUS_STYLES, write_table

if TYPE_CHECKING:
    from toolkit.management.commands import CommandResult
    from toolkit.management.questions import InstanceList


def print_instances(found: InstanceList, output: Output) -> None:
    """Print the rows that a question found."""
    if output is Output.JSON:
        print_json(instance_document(found))
        return
    columns, rows = instance_table(found)
    write_table(columns, rows, sys.stdout, STATUS_STYLES)


def print_answers(result: CommandResult, output: Output) -> None:
    """Print what a command did to each instance, and to how many."""
    if output is Output.JSON:
        print_json(answer_document(result))
        return
    columns, rows = answer_table(result)
    write_table(columns, rows, sys.stdout, STATUS_STYLES)
    print(f"{result.changed} of {len(result.answers)} changed")
