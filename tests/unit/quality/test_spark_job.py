"""Tests of what the process that judges makes of Spark's errors, whichever Spark it is."""

from __future__ import annotations

from typing import cast

import pytest
from pyspark.errors import PySparkException

from toolkit.quality.spark_job import condition_of


class ErrorOfSpark3:
    """What PySparkException had in 3.5."""

    def getErrorClass(self) -> str:  # noqa: N802 - Spark's
        return "UNABLE_TO_INFER_SCHEMA"


class ErrorOfSpark4:
    """What it will have alone one day."""

    def getCondition(self) -> str:  # noqa: N802 - Spark's
        return "UNABLE_TO_INFER_SCHEMA"


@pytest.mark.parametrize(
    "error", [ErrorOfSpark3(), ErrorOfSpark4(), PySparkException(errorClass="UNABLE_TO_INFER_SCHEMA", message="x")]
)
def test_an_error_has_its_name_in_each_spark(error: object) -> None:
    assert condition_of(cast("PySparkException", error)) == "UNABLE_TO_INFER_SCHEMA"
