"""Program of bench_columns: column lineage of statements by sqllineage, in a venv of its own."""

from __future__ import annotations

import json
import sys
import time

from sqllineage.exceptions import SQLLineageException  # type: ignore[import-not-found] # not in our venv
from sqllineage.runner import LineageRunner  # type: ignore[import-not-found]


def main() -> None:
    """Read statements from standard input, and write how many were read, and the seconds of CPU."""
    statements = json.load(sys.stdin)
    began, known = time.process_time(), 0
    for each in statements:
        try:
            known += bool(LineageRunner(each, dialect="sparksql").get_column_lineage())
        except (SQLLineageException, RecursionError):
            continue
    json.dump({"seconds": time.process_time() - began, "known": known}, sys.stdout)


if __name__ == "__main__":
    main()
