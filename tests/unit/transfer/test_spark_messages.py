"""Tests of what is left of Spark's messages."""

from __future__ import annotations

import pytest

from toolkit.transfer.adapters.spark_pool import why
from toolkit.transfer.errors import TasksFailed

WITHOUT_FEEDCTL = """\
org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent \
failure: Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.7 executor 0): org.apache.spark.api.python.PythonException: \
Traceback (most recent call last):
  File "/usr/lib/spark/python/lib/pyspark.zip/pyspark/worker.py", line 1800, in main
    func = read_command(pickleSer, infile)
ModuleNotFoundError: No module named 'toolkit'

\tat org.apache.spark.api.python.BasePythonRunner$ReaderIterator.handlePythonException(PythonRunner.scala:581)
\tat java.base/java.lang.Thread.run(Thread.java:840)

Driver stacktrace:
"""
WITHOUT_PYTHON = """\
org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 in stage 0.0 failed 4 times, most recent \
failure: Lost task 0.3 in stage 0.0 (TID 3) (10.0.0.7 executor 0): java.io.IOException: Cannot run program \
"./environment/bin/python": error=2, No such file or directory
\tat java.base/java.lang.ProcessBuilder.start(ProcessBuilder.java:1143)
"""


def test_the_last_line_of_pythons_traceback_is_what_counts() -> None:
    expected = "(10.0.0.7 executor 0): No module named 'toolkit'"
    assert why(RuntimeError(WITHOUT_FEEDCTL)).replace("ModuleNotFoundError: ", "") == expected


@pytest.mark.parametrize("text", [WITHOUT_FEEDCTL, WITHOUT_PYTHON])
def test_an_executor_without_feedctl_gets_the_hint_how_to_bring_it(text: str) -> None:
    message = str(TasksFailed(why=why(RuntimeError(text))))
    assert "PYSPARK_PYTHON" in message
    assert "\n" not in message
    assert "\tat" not in message


def test_a_message_of_one_line_stays_and_an_empty_one_is_named_after_its_class() -> None:
    assert why(ValueError("Cannot run multiple SparkContexts at once")) == "Cannot run multiple SparkContexts at once"
    assert why(OSError()) == "OSError"
