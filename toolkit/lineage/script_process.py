"""Child process that reads the lineage of a script: no script can hold or fill the process of the run."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict

from toolkit.foreign_json import BadJson, parse_json
from toolkit.ledger.column_lineage import ColumnRelation, LineageNode, StatementLineage
from toolkit.ledger.vocabulary import LineageRelationKind
from toolkit.lineage.columns import Schemas

CPU_SECONDS = 20
"""Processor time of the child."""
_MEMORY = 2 << 30
_MOST_BYTES = 64 << 20
MOST_RELATIONS = 20_000
"""Limit of the relations of one step; the lineage of a step with more is unknown."""


def script_lineage(
    statements: Sequence[tuple[str, str]], schemas: Schemas, timeout: float
) -> tuple[StatementLineage, ...]:
    """Return the lineage of a script, read by a child process.

    Args:
        statements: of the script, each with the text that is kept of it.
        schemas: columns of tables.
        timeout: seconds.
    """
    given = {"statements": statements, "schemas": asdict(schemas)}
    # -P: others may write to the working directory, whose modules are not loaded
    environment = {"PYTHONPATH": os.pathsep.join(each for each in sys.path if each)}
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter, and a module of ours
            [sys.executable, "-P", "-X", "utf8", "-m", __name__],
            input=json.dumps(given).encode("utf-8", "surrogatepass"),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=timeout,
            check=True,
        )
        found = parse_json(done.stdout, most_bytes=_MOST_BYTES)
    except (OSError, subprocess.SubprocessError, BadJson) as error:
        why = f"it was not read within {CPU_SECONDS} seconds of processor time and {_MEMORY >> 30} GiB ({error})"
        return (StatementLineage.of("UNKNOWN", "", unknown=why[:500]),)
    return tuple(_statement(*each) for each in found) if isinstance(found, list) else ()


def _statement(kind: str, text: str, unknown: str, relations: list[list[str]]) -> StatementLineage:
    return StatementLineage.of(kind, text, [_relation(*each) for each in relations], unknown)


def _relation(kind: str, *names: str) -> ColumnRelation:
    ends = [LineageNode(table=names[at], column=names[at + 1], function=names[at + 2]) for at in (0, 3)]
    return ColumnRelation(source=ends[0], target=ends[1], kind=LineageRelationKind(kind))


def main() -> int:
    """Read statements from standard input, and write their lineage to standard output."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    given = json.loads(sys.stdin.buffer.read())
    schemas = Schemas(**given["schemas"])
    from toolkit.lineage.statements import ScriptReader  # noqa: PLC0415 - sqlglot is optional

    script = ScriptReader(schemas=schemas)
    read = [script.read(text, source) for text, source in given["statements"]]
    found = [each for each in read if each is not None]
    if sum(len(each.relations) for each in found) > MOST_RELATIONS:
        found = [StatementLineage.of("UNKNOWN", "", unknown=f"it has over {MOST_RELATIONS:,} relations")]
    json.dump([_row(each) for each in found], sys.stdout)
    return 0


def _row(found: StatementLineage) -> list[object]:
    relations = [
        [each.kind, *(name for node in (each.source, each.target) for name in (node.table, node.column, node.function))]
        for each in found.relations
    ]
    return [found.type, found.text, found.unknown, relations]


if __name__ == "__main__":
    sys.exit(main())
