from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.storage import StorageSpec
from toolkit.storage.hadoop_conf import NoHadoopConfDir, UnreadableHadoopConf, hadoop_settings, settings_read


def _file(directory: Path, name: str, **settings: str) -> None:
    properties = "".join(
        f"<property><name>{key.replace('_', '.')}</name><value> {value} </value></property>"
        for key, value in settings.items()
    )
    (directory / name).write_text(f"<?xml version='1.0'?><configuration>{properties}</configuration>")


def test_the_clusters_own_settings_stand_above_those_of_the_files(tmp_path: Path) -> None:
    _file(tmp_path, "core-site.xml", a="core", b="core", c="core")
    _file(tmp_path, "hdfs-site.xml", b="hdfs", c="hdfs")
    spec = StorageSpec(scheme="webhdfs", authority="ns1", hadoop_conf={"c": "own"})
    found = hadoop_settings(spec, {"HADOOP_CONF_DIR": str(tmp_path)})
    assert found == {"a": "core", "b": "hdfs", "c": "own"}


def test_no_variable_and_missing_files_are_fine(tmp_path: Path) -> None:
    spec = StorageSpec(scheme="webhdfs", hadoop_conf={"a": "own"})
    assert hadoop_settings(spec, {}) == {"a": "own"}
    assert hadoop_settings(spec, {"HADOOP_CONF_DIR": str(tmp_path)}) == {"a": "own"}


def test_without_the_variable_the_files_of_hadoop_home_count_as_they_do_for_the_library(tmp_path: Path) -> None:
    spec, environment = StorageSpec(scheme="hdfs"), {"HADOOP_HOME": str(tmp_path)}
    assert hadoop_settings(spec, environment) == {}
    (tmp_path / "etc" / "hadoop").mkdir(parents=True)
    _file(tmp_path / "etc" / "hadoop", "core-site.xml", a="home")
    assert hadoop_settings(spec, environment) == {"a": "home"}
    assert hadoop_settings(spec, {**environment, "HADOOP_CONF_DIR": str(tmp_path)}) == {}


def test_a_file_that_is_no_xml_is_named(tmp_path: Path) -> None:
    (tmp_path / "core-site.xml").write_text("<configuration>")
    with pytest.raises(UnreadableHadoopConf, match=r"core-site\.xml"):
        hadoop_settings(StorageSpec(scheme="webhdfs"), {"HADOOP_CONF_DIR": str(tmp_path)})


def test_a_directory_that_is_none_is_refused_with_its_variable_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for value in ("/nowhere", str(tmp_path / "file"), str(tmp_path / "file" / "below")):
        with pytest.raises(
            NoHadoopConfDir,
            match=rf"HADOOP_CONF_DIR={value}: found no directory there, .*; correct HADOOP_CONF_DIR, or unset",
        ):
            hadoop_settings(StorageSpec(scheme="hdfs"), {"HADOOP_CONF_DIR": value})


def test_where_settings_were_looked_for_is_told_in_words() -> None:
    assert settings_read({"HADOOP_CONF_DIR": "/conf"}) == "HADOOP_CONF_DIR=/conf and hadoop_conf of the cluster"
    assert settings_read({}) == "hadoop_conf of the cluster (HADOOP_CONF_DIR is not set)"
