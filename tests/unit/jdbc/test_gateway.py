"""Jars of Spark, wherever the Spark is that runs this process."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

pytest.importorskip("py4j")

from toolkit.jdbc import gateway


@pytest.mark.parametrize(
    ("package", "home"),
    [("site/pyspark", "site/pyspark"), ("python/pyspark", "."), ("python/lib/pyspark.zip/pyspark", ".")],
)
def test_jars_are_found_beside_the_package_and_below_a_clusters_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, home: str
) -> None:
    jar = tmp_path / home / "jars/py4j-1.jar"
    jar.parent.mkdir(parents=True)
    jar.touch()
    spec = ModuleSpec("pyspark", None, origin=str(tmp_path / package / "__init__.py"))
    monkeypatch.setattr(gateway, "find_spec", lambda _: spec)
    assert [Path(each).resolve() for each in gateway.spark_jars("py4j-*.jar")] == [jar]
