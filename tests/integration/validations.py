"""Data made and judged by Spark in a process of its own: one Spark for many questions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.testbed import java
from tests.testbed.quick_spark import quick_spark
from toolkit.quality.documents import (
    Answer,
    Question,
    RequestedExpectation,
    read_answer,
    read_question,
    write_answer,
    write_question,
)

_ROOT = Path(__file__).parents[2]
_SECONDS = 900
SETTINGS = {
    "spark.master": "local[1]",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.ansi.enabled": "false",  # as Spark 3.5 has it, and a cluster may
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


@dataclass(frozen=True, kw_only=True)
class Made:
    """Rows that are written before anything is judged."""

    query: str
    place: Path
    format: str = "parquet"
    options: Mapping[str, str] = field(default_factory=dict)


def expect(type_: str, *, suite: str = "clicks", severity: str = "critical", **kwargs: object) -> RequestedExpectation:
    """An expectation; `question` gives it its position."""
    return RequestedExpectation(suite=suite, position=0, type=type_, kwargs=kwargs, severity=severity)


def environment() -> dict[str, str]:
    """Return the environment of a process with Spark."""
    return {
        **java.environment(),
        **quick_spark(),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(_ROOT),
    }


def answers_to(folder: Path, made: Sequence[Made], questions: Mapping[str, Question]) -> dict[str, Answer]:
    """The answers, by the names of the questions."""
    folder.mkdir()
    for name, question in questions.items():
        write_question(folder / f"{name}.question", question)
    given = json.dumps([[each.query, str(each.place), each.format, dict(each.options)] for each in made])
    ran = subprocess.run(
        [sys.executable, "-m", "tests.integration.validations", folder],
        input=given, env=environment(), cwd=_ROOT, capture_output=True, text=True, timeout=_SECONDS, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-6000:]
    return {name: read_answer(folder / f"{name}.answer") for name in questions}


def _main() -> None:
    from pyspark.sql import SparkSession  # noqa: PLC0415 - in this process alone

    from toolkit.quality.spark_job import evaluate  # noqa: PLC0415

    made: list[list[Any]] = json.load(sys.stdin)
    session = SparkSession.builder.config(map=dict(SETTINGS)).getOrCreate()
    for query, place, form, options in made:
        session.sql(query).write.format(form).options(**options).mode("overwrite").save(place)
    for requested in sorted(Path(sys.argv[1]).glob("*.question")):
        write_answer(requested.with_suffix(".answer"), evaluate(session, read_question(requested)))
        assert not session.sparkContext._jsc.getPersistentRDDs(), "what was kept for judging is let go"  # noqa: SLF001
    session.stop()


if __name__ == "__main__":
    _main()
