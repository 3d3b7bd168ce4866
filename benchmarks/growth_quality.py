"""Validations of more and more rows, as `bench_growth.py` measures them: by spark-submit, of files of Parquet."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

from benchmarks.bench_quality import HAND, OURS, PLAIN, program_of, suite
from benchmarks.growth import Case, Contestant
from benchmarks.timing import spark_environment
from benchmarks.whole_process import run
from toolkit.quality.documents import Question, RequestedPart, write_question

SIZES = (1_000, 100_000, 1_000_000, 10_000_000)


def validations(rows: Path) -> Case:
    """Return validations whose rows are made below a folder, once."""
    return Case(
        action="validation: 20 expectations on 30 columns, by spark-submit",
        unit="rows",
        sizes=SIZES,
        contestants=tuple(
            Contestant(name=name, command=partial(judging, rows=rows, name=name)) for name in (OURS, PLAIN, HAND)
        ),
    )


def judging(folder: Path, size: int, *, rows: Path, name: str) -> list[str]:
    """Return the validation of so many rows by a contestant."""
    os.environ.update(spark_environment() | {"PYSPARK_PYTHON": sys.executable, "GX_ANALYTICS_ENABLED": "False"})
    place, question = rows / str(size), folder / "question.json"
    if not place.exists():
        run(program_of("make", place, Path("-"), str(size)))
    parts = (RequestedPart(uri=str(place)),)
    expectations = suite(failing=False)
    write_question(question, Question(parts=parts, format="parquet", expectations=expectations, shows_values=True))
    return program_of(name, place, question, str(folder / "told"))
