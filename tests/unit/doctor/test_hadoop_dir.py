from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.doctor.hadoop import conf_dir_findings
from toolkit.storage.hadoop_conf import NoHadoopConfDir, UnreadableHadoopConf

_EMPTY = "<configuration/>"


def _found(directory: str | Path = "", undescribed: Sequence[str] = ()) -> list[CheckResult]:
    return list(conf_dir_findings({"HADOOP_CONF_DIR": str(directory)}, undescribed))


def test_who_does_not_need_it_hears_nothing_of_it() -> None:
    assert _found() == []


def test_an_end_point_that_nothing_describes_is_told_as_a_note() -> None:
    (found,) = _found(undescribed=["hdfs://ns1"])
    assert (found.status, "hdfs://ns1" in found.found) == (CheckStatus.SKIPPED, True)
    assert "HADOOP_CONF_DIR" in found.todo


def test_what_is_no_directory_or_no_configuration_is_an_error_of_the_check(tmp_path: Path) -> None:
    with pytest.raises(NoHadoopConfDir):
        _found("/nowhere")
    (tmp_path / "hdfs-site.xml").write_text("no xml")
    with pytest.raises(UnreadableHadoopConf):
        _found(tmp_path)


def test_a_directory_is_as_it_should_be_when_it_has_both_files(tmp_path: Path) -> None:
    (none,) = _found(tmp_path)
    (tmp_path / "core-site.xml").write_text(_EMPTY)
    (one,) = _found(tmp_path)
    (tmp_path / "hdfs-site.xml").write_text(_EMPTY)
    (both,) = _found(tmp_path, ["hdfs://ns1"])
    assert [each.status for each in (none, one, both)] == [CheckStatus.FAILED, CheckStatus.WARNING, CheckStatus.OK]
    assert none.found.endswith("has neither core-site.xml nor hdfs-site.xml")
    assert one.found.endswith("has no hdfs-site.xml")
