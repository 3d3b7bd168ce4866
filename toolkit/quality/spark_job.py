"""Program that validates data, started by spark-submit with the paths of a question and of where the answer goes.

It ends with 0 when there is an answer, also one that says why nothing could be validated. Without an answer, or with
fewer findings than were requested, there is no result. It needs `feedctl[quality]` where it runs, on the submitting
machine: deploy mode `client`.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from functools import partial, reduce
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

_HERE = Path(__file__).resolve()
if __name__ == "__main__":  # Python looks beside a script first, where only modules of a package are
    sys.path[:] = [*(each for each in sys.path if each != str(_HERE.parent)), str(_HERE.parents[2])]

from toolkit.quality.columns import is_one_aggregate  # noqa: E402
from toolkit.quality.documents import (  # noqa: E402
    Answer,
    NotUnderstood,
    Question,
    RequestedExpectation,
    read_question,
    write_answer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from toolkit.quality.documents import ExpectationResult

_SEED = 20260101
"""Seed of samples, so that the same data has the same result."""
_ROW_COUNT = "expect_table_row_count_to_be_between"
_ERROR_CHARACTERS = 300
_QUIET = {"GX_ANALYTICS_ENABLED": "False", "TQDM_DISABLE": "1"}
_STRICT = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false"}
"""Options that override the cluster's: a file that cannot be read fails the validation instead of being left out."""
SETTINGS = {
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.hive.manageFilesourcePartitions": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.variable.substitute": "false",  # a value ${env:PASSWORD} of a partition would become the password
    "spark.sql.caseSensitive": "false",  # as Hive finds columns
}
"""Settings that override the cluster's: the table made for the validation is in no metastore."""
_CATALOG_OF_OTHERS = "spark.sql.catalog.spark_catalog"
"""The setting by which a cluster replaces Spark's own catalog, for example by Iceberg's, which calls a metastore."""
_TEXT_LINES, _LINE, _NULL = "text", "feedctl_line", "__HIVE_DEFAULT_PARTITION__"
_NUMBERS = count()
_AT_ONCE = 500
"""Most partitions in one statement."""


class _OtherRows(Exception):  # noqa: N818 - it says what there is
    """Spark would find other rows than the readers of a table; the text has no values in it."""


def main() -> int:
    """Answer the question; the exit code."""
    question_file, answered = Path(sys.argv[1]), Path(sys.argv[2])
    try:
        question = read_question(question_file)
    except (NotUnderstood, OSError) as error:
        sys.stderr.write(f"feedctl: {error}\n")
        return 2
    if not question.shows_values:
        sys.excepthook = partial(_say_no_values, answered)
    write_answer(answered, _missing() or evaluate(_session(question), question))
    return 0


def _say_no_values(answered: Path, kind: type[BaseException], *_: object) -> None:
    """Hide the text of an error, which may quote values; the process fails all the same."""
    write_answer(answered, Answer(refused=f"{kind.__name__} in the validation process; its text may have values in it"))


def _session(question: Question) -> SparkSession:
    """Spark, without logs where no values may be shown: errors quote what they choke on, in Java and in Python."""
    session = SparkSession.builder.appName("feedctl quality").config(map=dict(SETTINGS)).getOrCreate()
    session.conf.unset(_CATALOG_OF_OTHERS)  # before anything has asked for it
    session.sparkContext.setLogLevel("WARN" if question.shows_values else "OFF")
    if not question.shows_values:
        logging.disable(logging.CRITICAL)
    return session


def answer_in(session: SparkSession, check: Callable[[], None], question_file: str, answered: str) -> None:
    """Answer a question in a session with `SETTINGS` of an application that does more; its logs may have values.

    Args:
        session: as it was made.
        check: called often; it raises what is no `Exception` when the validation has to end.
        question_file: its path.
        answered: path of the answer.

    Raises:
        NotUnderstood: the question is none.
        OSError: a file cannot be read or written.
    """
    session.conf.unset(_CATALOG_OF_OTHERS)
    if (refused := _missing()) is None:
        from toolkit.quality import evaluation  # noqa: PLC0415 - see `_missing`

        evaluation.CHECK.set(check)
    write_answer(Path(answered), refused or evaluate(session, read_question(Path(question_file))))


def _missing() -> Answer | None:
    """Return the answer if Great Expectations cannot be imported, which takes seconds; None: it can."""
    os.environ.update(_QUIET)
    try:
        import toolkit.quality.evaluation  # noqa: F401, PLC0415
    except ImportError as error:
        what = f"{error.name or 'a library'} is not installed for {sys.executable}"
        return Answer(refused=f"{what}; to validate data, run pip install 'feedctl[quality]'")
    return None


def evaluate(session: SparkSession, question: Question) -> Answer:
    """Return the result of each expectation; unreadable data is refused whole."""
    if refused := _missing():
        return refused
    from toolkit.quality import evaluation  # noqa: PLC0415 - see `_missing`

    began = time.monotonic()
    try:
        rows, findings = _evaluated(session, question)
    except _OtherRows as error:
        return Answer(refused=f"the data cannot be read: {error}", engine=evaluation.ENGINE)
    except (PySparkException, Py4JError) as error:
        return Answer(refused=f"the data cannot be read: {_error_text(error, question)}", engine=evaluation.ENGINE)
    return Answer(findings=findings, rows=rows, seconds=time.monotonic() - began, engine=evaluation.ENGINE)


def _evaluated(session: SparkSession, question: Question) -> tuple[int, tuple[ExpectationResult, ...]]:
    """The number of all rows and the findings.

    The rows are read once for what is one aggregate, and once for the rest, whose columns are kept.

    Raises:
        PySparkException, Py4JError, _OtherRows: they cannot be.
    """
    from toolkit.quality import evaluation  # noqa: PLC0415 - see `_missing`

    session.conf.set("spark.sql.ansi.enabled", "true")  # else a text is less and more than no number, and holds
    data = _read(session, question)
    is_sample = question.sample < 1
    counted = RequestedExpectation(suite="", position=0, type=_ROW_COUNT, kwargs={"min_value": 0}, severity="critical")
    of_all = _counts_all if is_sample else is_one_aggregate
    at_once = [each for each in question.expectations if of_all(each)]
    others = [each for each in question.expectations if each not in at_once]
    data = evaluation.narrowed(data, question.expectations)
    looked_at = data.sample(fraction=question.sample, seed=_SEED) if is_sample else data
    how = {"shows_values": question.shows_values, "allows_sql": question.allows_sql}
    *found, total = evaluation.evaluate(data, [*at_once, counted], **how)
    if others:
        kept = evaluation.narrowed(looked_at, others).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            found += evaluation.evaluate(kept, others, **how)
        finally:
            kept.unpersist()
    if total.error or any(each.error for each in found):
        looked_at.write.format("noop").mode("overwrite").save()  # raises when it is the data that cannot be read
    rows = int(total.observed) if total.observed else data.count()
    by_place = {(each.suite, each.position): each for each in found}
    return rows, tuple(by_place[each.suite, each.position] for each in question.expectations)


def _counts_all(expectation: RequestedExpectation) -> bool:
    """Return whether an expectation is about the number of all rows, of which a sample says nothing."""
    return expectation.type.startswith("expect_table_row_count_")


def _read(session: SparkSession, question: Question) -> DataFrame:
    """Return all parts as one table; a column that a part does not have is null there."""
    if question.columns:
        return _table(session, question)
    parts = [_part(session, question, part.uri) for part in question.parts]
    return reduce(lambda some, more: some.unionByName(more, allowMissingColumns=True), parts)


def _table(session: SparkSession, question: Question) -> DataFrame:
    """The parts as a table has them, which is in this session's own catalog, in memory, and nowhere else.

    So columns and keys have the table's types and are found as its readers find them, however many partitions it has.
    """
    if question.format == _TEXT_LINES:
        return _fields(_made(session, question, _TEXT_LINES, {_LINE: "string"}, {}), question)
    if question.format == "json":
        _require_names(_made(session, question, _TEXT_LINES, {_LINE: "string"}, {}), list(question.columns))
    return _made(session, question, question.format, question.columns, question.options)


def _made(
    session: SparkSession, question: Question, form: str, columns: Mapping[str, str], options: Mapping[str, str]
) -> DataFrame:
    name, (first, *_) = f"spark_catalog.default.feedctl_judged_{next(_NUMBERS)}", question.parts
    described = ", ".join(f"{_quoted(own)} {kind}" for own, kind in {**columns, **question.keys}.items())
    keys = ", ".join(map(_quoted, question.keys))
    session.sql(
        f"CREATE TABLE {name} ({described}) USING {form} OPTIONS ({_pairs({**options, **_STRICT})})"
        f"{f' PARTITIONED BY ({keys})' if keys else ''} LOCATION {_text(first.uri)}"
    )
    for at in range(0, len(question.parts) if keys else 0, _AT_ONCE):
        parts = question.parts[at : at + _AT_ONCE]
        added = (f"PARTITION ({_pairs(each.keys, _quoted)}) LOCATION {_text(each.uri)}" for each in parts)
        session.sql(f"ALTER TABLE {name} ADD {' '.join(added)}")
    return session.table(name)


def _require_names(lines: DataFrame, columns: Sequence[str]) -> None:
    """Refuse JSON with names that Hive finds and Spark does not, since they differ from the columns' in their case.

    Raises:
        _OtherRows: there are some.
    """
    exact, lower = (f"array({', '.join(map(_text, names))})" for names in (columns, [each.lower() for each in columns]))
    differs = f"array_contains({lower}, lower(name)) AND NOT array_contains({exact}, name)"
    if not lines.where(f"exists(json_object_keys({_LINE}), name -> {differs})").isEmpty():
        message = "names in its JSON differ from those of its columns in their case, which Hive does not mind"
        raise _OtherRows(message)


def _fields(rows: DataFrame, question: Question) -> DataFrame:
    """The fields of lines as Hive finds them: empty ones are empty texts, and what is not of its type is null."""
    separator, null = (_text(question.options[name]) for name in ("sep", "nullValue"))
    fields = f"split({_LINE}, concat('\\\\Q', {separator}, '\\\\E'), -1)"
    texts = [f"nullif(get({fields}, {place}), {null})" for place in range(len(question.columns))]
    named = zip(texts, question.columns.items(), strict=True)
    typed = [f"{_typed(text, kind)} AS {_quoted(name)}" for text, (name, kind) in named]
    return rows.selectExpr(*typed, *map(_quoted, question.keys))


def _typed(text: str, kind: str) -> str:
    """Hive takes two words for what is true or false; Spark takes `1`, `yes` and others for it, too."""
    if kind.lower() == "boolean":
        return f"CASE lower({text}) WHEN 'true' THEN true WHEN 'false' THEN false END"
    return f"try_cast({text} AS {kind})"


def _quoted(name: str) -> str:
    """A name in Spark's SQL."""
    return f"`{name.replace('`', '``')}`"


def _text(text: str) -> str:
    """A text in Spark's SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def _pairs(given: Mapping[str, str], named: Callable[[str], str] = _text) -> str:
    return ", ".join(f"{named(name)} = {'NULL' if text == _NULL else _text(text)}" for name, text in given.items())


def _part(session: SparkSession, question: Question, uri: str) -> DataFrame:
    try:
        return session.read.format(question.format).options(**question.options).options(**_STRICT).load(uri)
    except PySparkException as error:
        if condition_of(error) != "UNABLE_TO_INFER_SCHEMA":
            raise
        return session.range(0).select()  # there is no file: no rows, and no columns


def condition_of(error: PySparkException) -> str | None:
    """Return Spark's name of an error; Spark 3.5 says class instead of condition."""
    ask: Callable[[], str | None] = getattr(error, "getCondition", None) or error.getErrorClass
    return ask()


def _error_text(error: PySparkException | Py4JError, question: Question) -> str:
    """In one line; of feeds whose values are not shown, the name of what went wrong alone."""
    if question.shows_values:
        return " ".join(str(error).split())[:_ERROR_CHARACTERS]
    condition = condition_of(error) if isinstance(error, PySparkException) else None
    return " ".join(each for each in (type(error).__name__, condition) if each)


if __name__ == "__main__":
    sys.exit(main())
