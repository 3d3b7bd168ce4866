"""Programs for spark-submit that benchmarks time: the rows, Great Expectations alone, one aggregate by hand.

Each is given its name, the directory of the rows, the question's file, a file for the seconds that it took inside, and
perhaps how often it is to be done in the one session: then the first line of the file is about loading the library.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sql

_FILES = 8


def make(session: SparkSession, place: str, rows: int) -> None:
    """Rows of 30 columns: ten whole numbers, ten others, ten texts."""
    numbers = [((sql.col("id") * (7 + n)) % (1000 * (n + 1))).cast("int").alias(f"whole_{n}") for n in range(10)]
    others = [(sql.rand(n) * 1000).alias(f"real_{n}") for n in range(10)]
    texts = [
        sql.concat(sql.lit("value "), (sql.col("id") * (3 + n)) % (10 ** (1 + n % 5))).alias(f"text_{n}")
        for n in range(10)
    ]
    session.range(0, rows, 1, _FILES).select(*numbers, *others, *texts).write.mode("overwrite").parquet(place)


def alone(data: DataFrame, question: Path) -> None:
    """Great Expectations the usual way: one suite, its own defaults."""
    import great_expectations as gx  # noqa: PLC0415 - takes seconds
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration  # noqa: PLC0415

    context = gx.get_context(mode="ephemeral")
    source = context.data_sources.add_spark("data").add_dataframe_asset("data")
    batch = source.add_batch_definition_whole_dataframe("data").get_batch(batch_parameters={"dataframe": data})
    requested = json.loads(question.read_text(encoding="utf-8"))["expectations"]
    built = [ExpectationConfiguration(type=each["type"], kwargs=each["kwargs"]).to_domain_obj() for each in requested]
    found = batch.validate(gx.ExpectationSuite(name="suite", expectations=built))
    assert len(found.results) == len(requested)


def by_hand(data: DataFrame, question: Path) -> None:
    """The figures of all expectations in one reading."""
    figures = [sql.count(sql.lit(1))]
    for each in json.loads(question.read_text(encoding="utf-8"))["expectations"]:
        given, type_ = each["kwargs"], each["type"]
        if "column" not in given:
            continue
        column = sql.col(given["column"])
        unlike: dict[str, Callable[[Column, dict[str, Any]], Column]] = {
            "expect_column_values_to_not_be_null": lambda of, _: of.isNull(),
            "expect_column_values_to_be_between": lambda of, to: ~of.between(to["min_value"], to["max_value"]),
            "expect_column_values_to_be_in_set": lambda of, to: ~of.isin(to["value_set"]),
            "expect_column_values_to_match_regex": lambda of, to: ~of.rlike(to["regex"]),
            "expect_column_value_lengths_to_be_between": lambda of, to: ~sql.length(of).between(1, to["max_value"]),
        }
        whole: dict[str, Callable[[Column], Column]] = {
            "mean": sql.mean,
            "max": sql.max,
            "min": sql.min,
            "stdev": sql.stddev_samp,
        }
        if type_ in unlike:
            figures.append(sql.sum(sql.when(unlike[type_](column, given), 1).otherwise(0)))
        else:
            figures.append(whole[type_.split("_")[2]](column))
    data.agg(*(each.alias(str(number)) for number, each in enumerate(figures))).collect()


def main() -> None:
    """Run the one that is named."""
    name, place, question, reported, *rounds = sys.argv[1:]
    session = SparkSession.builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    if name == "make":
        make(session, place, int(reported))
        return
    what: dict[str, Callable[[DataFrame, Path], None]] = {"alone": alone, "by_hand": by_hand}
    began = time.monotonic()
    if name == "alone":
        import great_expectations  # noqa: F401, PLC0415 - not counted, as in the process that judges
    ends = [began, time.monotonic()]
    for _ in range(int(rounds[0]) if rounds else 1):
        what[name](session.read.parquet(place), Path(question))
        ends.append(time.monotonic())
    seconds = [end - begin for begin, end in pairwise(ends)]
    Path(reported).write_text("\n".join(map(str, seconds if rounds else seconds[1:])), encoding="utf-8")


if __name__ == "__main__":
    main()
