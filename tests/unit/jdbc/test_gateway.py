"""Jars of Spark, wherever the Spark is that runs this process, and limits of a server that hangs."""

from __future__ import annotations

from importlib.machinery import ModuleSpec
from pathlib import Path
from unittest.mock import MagicMock

import pytest

pytest.importorskip("py4j")

from toolkit.entities import DatasourceType
from toolkit.jdbc import gateway
from toolkit.jdbc.port import JdbcAccess


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


def test_a_server_that_hangs_after_the_login_is_given_up_after_a_minute() -> None:
    java = MagicMock()
    access = JdbcAccess(
        name="crm", type=DatasourceType.POSTGRES, url="jdbc:x", driver_class="X", init_statements=("SET x = 1",)
    )
    opened = gateway.JdbcGateway.__new__(gateway.JdbcGateway)
    opened._java = java  # noqa: SLF001 - without a JVM
    raw = java.jvm.java.sql.DriverManager.getConnection.return_value
    opened.connect(access).begin(read_only=True, isolation="TRANSACTION_READ_COMMITTED")
    calls = [name for name, _, _ in raw.method_calls if name.startswith(("set", "prepareStatement"))]
    assert calls[:3] == ["setNetworkTimeout", "prepareStatement", "setNetworkTimeout"]
    assert [each.args[1] for each in raw.setNetworkTimeout.call_args_list] == [60_000, 60_000]
