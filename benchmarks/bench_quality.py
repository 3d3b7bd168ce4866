"""Judging 20 expectations on rows of 30 columns: ours, Great Expectations the usual way, one Spark aggregate by hand.

Each is a spark-submit on the same files; they take turns. The seconds are those inside: without the start of Spark and
the loading of libraries, which the processor time has. All expectations hold, as on most days; with `--failing` some do
not.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from benchmarks.timing import SPARK_SUBMIT, spark_environment
from benchmarks.whole_process import ROOT, run
from toolkit.quality.documents import Question, RequestedExpectation, RequestedPart, read_answer, write_question

ROWS, ROUNDS = 10_000_000, 3
GOAL = 1 / 3
OURS, PLAIN, HAND = "feedctl", "Great Expectations alone", "one aggregate by hand"
_PROGRAMS = str(ROOT / "benchmarks" / "quality" / "programs.py")
_SPARK_JOB = str(ROOT / "toolkit" / "quality" / "spark_job.py")
_SUBMIT = (
    SPARK_SUBMIT,
    "--master",
    "local[2]",
    "--driver-memory",
    "2g",
    "--conf",
    "spark.ui.enabled=false",
    "--conf",
    "spark.log.level=ERROR",
)


def suite(*, failing: bool) -> tuple[RequestedExpectation, ...]:
    """Twenty that the rows fulfil, or four of them not."""
    most = 10 if failing else 1000
    requested: list[tuple[str, Mapping[str, object]]] = [
        ("expect_table_row_count_to_be_between", {"min_value": 1}),
        *(("expect_column_values_to_not_be_null", {"column": f"{kind}_0"}) for kind in ("whole", "real", "text")),
        *(("expect_column_values_to_not_be_null", {"column": f"{kind}_1"}) for kind in ("whole", "real", "text")),
        *(
            ("expect_column_values_to_be_between", {"column": f"real_{n}", "min_value": 0, "max_value": most})
            for n in range(4)
        ),
        ("expect_column_values_to_be_in_set", {"column": "text_0", "value_set": [f"value {n}" for n in range(10)]}),
        *(("expect_column_values_to_match_regex", {"column": f"text_{n}", "regex": "^value [0-9]+$"}) for n in (1, 2)),
        *(("expect_column_value_lengths_to_be_between", {"column": f"text_{n}", "max_value": 20}) for n in (3, 4)),
        ("expect_column_mean_to_be_between", {"column": "real_4", "min_value": 0, "max_value": 1000}),
        ("expect_column_max_to_be_between", {"column": "whole_5", "min_value": 0, "max_value": 6000}),
        ("expect_column_min_to_be_between", {"column": "whole_5", "min_value": 0, "max_value": 6000}),
        ("expect_column_stdev_to_be_between", {"column": "real_6", "min_value": 0, "max_value": 1000}),
    ]
    return tuple(
        RequestedExpectation(suite="bench", position=place, type=type_, kwargs=kwargs, severity="critical")
        for place, (type_, kwargs) in enumerate(requested)
    )


def program_of(name: str, place: Path, question: Path, last: str) -> list[str]:
    """Return the command of a contestant, or of `make`, whose last argument is how many rows."""
    if name == OURS:
        return [*_SUBMIT, _SPARK_JOB, str(question), last]
    which = {PLAIN: "alone", HAND: "by_hand"}.get(name, name)
    return [*_SUBMIT, _PROGRAMS, which, str(place), str(question), last]


def seconds(name: str, place: Path, question: Path, reported: Path) -> tuple[float, float]:
    """Inside one contestant, by the clock, and of the processor for the whole process."""
    processor, _ = run(program_of(name, place, question, str(reported)))
    if name == OURS:
        answer = read_answer(reported)
        assert not answer.refused
        assert not any(each.error for each in answer.findings)
        return answer.seconds, processor
    return float(reported.read_text(encoding="utf-8")), processor


def reported(
    found: dict[str, list[tuple[float, float]]], rows: int, expectations: Sequence[RequestedExpectation]
) -> bool:
    """Print the figures side by side; return whether ours take at most a third of the peer's seconds."""
    rounds, load = len(found[OURS]), os.getloadavg()[0]
    print(f"{len(expectations)} expectations on {rows:,} rows of 30 columns, medians of {rounds}; load {load:.0f}")
    walls = {name: median(wall for wall, _ in of) for name, of in found.items()}
    for name, of in found.items():
        processor = median(each for _, each in of)
        share = walls[name] / walls[PLAIN]
        print(f"  {name:26} {walls[name]:7.1f} s  {processor:7.1f} s of CPU, with its start  {share:5.2f}")
    print(f"  {walls[PLAIN] / walls[OURS]:.2f}x faster than {PLAIN} (goal {1 / GOAL:g}x)")
    return walls[OURS] <= GOAL * walls[PLAIN]


def main() -> int:
    """Prints the figures; 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="of which the median counts")
    parser.add_argument("--failing", action="store_true", help="some expectations do not hold")
    options = parser.parse_args()
    os.environ.update(spark_environment() | {"PYSPARK_PYTHON": sys.executable, "GX_ANALYTICS_ENABLED": "False"})
    expectations = suite(failing=options.failing)
    with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name:
        folder = Path(name)
        place, question = folder / "rows", folder / "question.json"
        run(program_of("make", place, Path("-"), str(options.rows)))
        parts = (RequestedPart(uri=str(place)),)
        write_question(question, Question(parts=parts, format="parquet", expectations=expectations, shows_values=True))
        found: dict[str, list[tuple[float, float]]] = {OURS: [], PLAIN: [], HAND: []}
        for _ in range(options.rounds):
            for contestant, of in found.items():
                of.append(seconds(contestant, place, question, folder / "told"))
    return 0 if reported(found, options.rows, expectations) else 1


if __name__ == "__main__":
    raise SystemExit(main())
