"""Program under spark-submit: moves rows on a cluster, once well and in ways that fail, and prints what became of it.

Its arguments are a pickled datasource, a directory for files, and the folder of a log that says everything.
"""

from __future__ import annotations

import logging
import os
import pickle
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from toolkit.exchange.rows import ReadRequest, RowsFailed, StageRequest, StoredFormat
from toolkit.exchange.spark_rows import SparkRows
from toolkit.jdbc.errors import DatabaseError
from toolkit.jdbc.opening import database_access
from toolkit.jdbc.port import RelationName

COLUMNS = {"id": "int", "at": "timestamp"}


def _say(*words: object) -> None:
    sys.stdout.write(f"{' '.join(map(str, words))}\n")


def main() -> None:
    """Move rows, and print each outcome."""
    logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    access = database_access(pickle.loads(Path(sys.argv[1]).read_bytes()), os.environ)  # noqa: S301 - the test wrote it
    target, rows = f"file://{sys.argv[2]}", SparkRows()
    read = ReadRequest(
        access=access,
        init_statement=None,
        selects=tuple(f"SELECT id, at FROM t WHERE id % 2 = {each}" for each in range(2)),  # noqa: S608
        columns=COLUMNS,
        fetch_size=100,
        stored=StoredFormat(),
        target=f"{target}/good",
    )
    stage = StageRequest(
        access=access,
        table=RelationName(("s",)),
        files=(read.target,),
        stored=StoredFormat(),
        columns=COLUMNS,
        connections=2,
    )
    _say("read", rows.read(read))
    _say("staged", rows.stage(stage))
    bad = replace(read, target=f"{target}/bad")
    failing: tuple[Callable[[], object], ...] = (
        lambda: rows.read(replace(bad, selects=("SELECT id / 0, at FROM t",))),
        lambda: rows.read(replace(bad, selects=("SELECT nothing, at FROM t",))),
        lambda: rows.read(replace(bad, access=replace(access, user="nobody"))),
        lambda: rows.stage(stage),
    )
    for each in failing:
        try:
            each()
        except (DatabaseError, RowsFailed) as error:
            _say("failed", type(error).__name__, error)
            traceback.print_exc()
    rows.close()


if __name__ == "__main__":
    main()
