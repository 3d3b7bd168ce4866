"""Replications at the gate that are killed: one round to an object store with all tests, twenty of each in the soak."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.e2e.retention_process import environment
from tests.integration.replications import End, Replication
from tests.integration.validated_runs import put_validator
from tests.soak.validated_rounds import QUALITY, ValidatedRounds
from tests.testbed.s3 import S3Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(0)]
_ROUNDS, _SOAK_ROUNDS = 1, 20


@pytest.fixture
def variables(java_home: Path, monkeypatch: pytest.MonkeyPatch) -> Mapping[str, str]:
    """Return the variables of the runs: of this process, of those that are killed, and of what judges for them."""
    return _set(monkeypatch, environment(java_home))


@pytest.fixture
def on_hdfs(hdfs_dir: str, tmp_path: Path, variables: Mapping[str, str]) -> ValidatedRounds:
    """To an HDFS, judged by Spark."""
    return ValidatedRounds(copying=_copying(tmp_path, End(uri=hdfs_dir)), variables=variables, validates_for=15)


@pytest.fixture
def on_s3(
    s3: S3Store, s3_bucket: str, tmp_path: Path, variables: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> ValidatedRounds:
    """To an object store, which the test bed's Spark has no jars for: a program that stands for it judges."""
    home = {"SPARK_HOME": str(_validating_spark(tmp_path, s3.settings)), "FEEDCTL_STEP_VARIABLES": "AWS_*"}
    copying = _copying(tmp_path, End(uri=f"s3a://{s3_bucket}/to", conf=s3.settings))
    known = _set(monkeypatch, {**variables, **s3.environment, **home})
    return ValidatedRounds(copying=copying, variables=known, validates_for=2)


def _validating_spark(directory: Path, conf: Mapping[str, str]) -> Path:
    """Spark's directory, but with another spark-submit: the one that runs look for, and are not started by."""
    found = find_spec("pyspark")
    assert found is not None
    assert found.origin is not None
    spark, own = Path(found.origin).parent, directory / "spark"
    for each in [*spark.iterdir(), *(spark / "bin").iterdir()]:
        link = own / each.relative_to(spark)
        link.parent.mkdir(exist_ok=True)
        if each.name == "bin":
            link.mkdir()
        elif each.name != "spark-submit":
            link.symlink_to(each)
    put_validator(own / "bin", trace=directory / "trace", hang=directory / "hang", conf=conf)
    return own


def _set(monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str]) -> Mapping[str, str]:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


def _copying(directory: Path, target: End) -> Replication:
    (directory / "from").mkdir()
    source = End(uri=f"file://{directory}/from")
    return Replication(directory=directory, sources={"primary": source}, target=target, of_target=QUALITY)


def _loop(rounds: int, validation: ValidatedRounds) -> None:
    first, began = int(os.environ.get("FEEDCTL_SEED") or secrets.randbelow(10**9)), time.monotonic()
    print(f"FEEDCTL_SEED={first}")  # noqa: T201 - how to repeat it
    for seed in range(first, first + rounds):
        try:
            validation.one_round(seed)
        except AssertionError as error:
            error.add_note(f"in round {seed - first + 1}; repeat all with FEEDCTL_SEED={first}")
            raise
        print(f"round {seed - first + 1}: {validation.seen}")  # noqa: T201 - that it goes on
    print(f"{rounds} rounds in {time.monotonic() - began:.0f} s; {validation.seen}")  # noqa: T201 - what it is run for


@pytest.mark.soak
def test_on_an_object_store_nothing_has_a_flag_without_a_verdict(on_s3: ValidatedRounds) -> None:
    _loop(_ROUNDS, on_s3)


@pytest.mark.soak
def test_twenty_replications_are_killed_around_the_gate(on_hdfs: ValidatedRounds) -> None:
    _loop(_SOAK_ROUNDS, on_hdfs)


@pytest.mark.soak
def test_twenty_replications_to_an_object_store_are_killed_around_the_gate(on_s3: ValidatedRounds) -> None:
    _loop(_SOAK_ROUNDS, on_s3)
