"""Runs statements on Spark SQL: the program that the engine `spark_sql` submits.

No import of toolkit: in cluster mode it runs where feedctl is not. Arguments: a JSON file of the statements, and one
for what went wrong; where the first is not to be found, Spark has brought it into the working directory.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark.errors import ParseException, PySparkException
from pyspark.sql import SparkSession

_ROWS = 20
_AS_QUOTED = ("spark.sql.variable.substitute", "spark.sql.parser.escapedStringLiterals")
"""A script may have set them: then Spark would look for variables of its own in the texts of properties, or take a
backslash in a string for itself, and not as it was quoted."""
_MAY_COME = frozenset({"42P01", "42K03"})
"""States of a missing table and a missing path: they may be there when the step is tried again."""


def main() -> int:
    """Run all statements, up to the first that fails; the exit code."""
    given, problem = Path(sys.argv[1]), Path(sys.argv[2])
    statements = json.loads((given if given.exists() else Path(given.name)).read_text(encoding="utf-8"))
    session = SparkSession.builder.getOrCreate()
    say(f"application {session.sparkContext.applicationId}")
    for each in statements:
        place = f"statement {each['number']} of {len(statements)}, line {each['line']}"
        say(place)
        try:
            sys.stdout.write(shown(session, each["text"]))
        except PySparkException as error:
            _tell(problem, place, error)
            return 1
    return 0


def shown(session: SparkSession, text: str) -> str:
    """Run a statement, and return the first of its rows as a table; empty: it has none."""
    for name in _AS_QUOTED:
        session.conf.set(name, "false")
    rows = session.sql(text)
    if not rows.columns:
        return ""
    return f"{rows._jdf.showString(_ROWS, 0, False)}\n"  # noqa: SLF001, FBT003 - what `show` prints


def _tell(problem: Path, place: str, error: PySparkException) -> None:
    say(f"{place}, failed: {error}")
    facts: dict[str, Any] = {"message": f"{place}, failed: {first_line(str(error))}", "may_retry": may_retry(error)}
    with suppress(OSError):  # in cluster mode it has no reader
        problem.write_text(json.dumps(facts), encoding="utf-8")


def first_line(error: str) -> str:
    """Return the first line of an error that says something."""
    return next((line.strip() for line in error.splitlines() if line.strip()), "without a message")


def may_retry(error: PySparkException) -> bool | None:
    """Return False if the statement itself is wrong (class 42 of SQL), or None: it may go well another time."""
    state = error.getSqlState() or ""
    is_wrong = isinstance(error, ParseException) or (state.startswith("42") and state not in _MAY_COME)
    return False if is_wrong else None


def say(text: str) -> None:
    """Write a line of our own into the log."""
    sys.stderr.write(f"feedctl: {text}\n")


if __name__ == "__main__":
    sys.exit(main())
