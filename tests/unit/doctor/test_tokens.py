from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.unit.storage.token_files import HDFS_TOKEN_AS_URL_TEXT, PROTOBUF, WRITABLE
from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.doctor.tokens import in_words, token_findings
from toolkit.storage.hdfs.tokens import UnreadableTokenFile
from toolkit.storage.tokens import BadTokenFile

_ENDS = datetime(2026, 1, 8, tzinfo=UTC)


def _found(directory: Path, content: bytes, now: datetime) -> dict[str, CheckResult]:
    file = directory / "tokens"
    file.write_bytes(content)
    found = token_findings({"HADOOP_TOKEN_FILE_LOCATION": str(file)}, now)
    return {each.what.partition(" ")[0]: each for each in found}


@pytest.mark.parametrize(
    ("now", "status", "output"),
    [
        (_ENDS - timedelta(days=6, hours=23), CheckStatus.OK, "expires 2026-01-08T00:00Z, in 6 d 23 h at the latest"),
        (_ENDS - timedelta(minutes=59), CheckStatus.WARNING, "in 59 min at the latest"),
        (_ENDS, CheckStatus.FAILED, "expired 2026-01-08T00:00Z, 0 s ago"),
        (_ENDS + timedelta(days=2), CheckStatus.FAILED, "2 d ago"),
    ],
)
def test_the_life_of_a_token_is_compared_with_now(
    tmp_path: Path, now: datetime, status: CheckStatus, output: str
) -> None:
    found = _found(tmp_path, PROTOBUF, now)["HDFS_DELEGATION_TOKEN"]
    assert found.status is status
    assert output in found.found


def test_kinds_and_services_are_told_and_nothing_that_proves_a_token(tmp_path: Path) -> None:
    found = _found(tmp_path, WRITABLE, _ENDS)
    assert {each.what for each in found.values()} == {
        "HDFS_DELEGATION_TOKEN for ha-hdfs:ns1",
        "kms-dt for 10.0.0.1:9600",
    }
    assert HDFS_TOKEN_AS_URL_TEXT[20:] not in repr(found)
    assert found["kms-dt"].found == "its life is not known"


def test_no_file_is_no_fault_and_one_that_is_gone_or_broken_is(tmp_path: Path) -> None:
    (none,) = token_findings({}, _ENDS)
    assert none.status is CheckStatus.SKIPPED
    with pytest.raises(UnreadableTokenFile, match="gone"):
        list(token_findings({"HADOOP_TOKEN_FILE_LOCATION": str(tmp_path / "gone")}, _ENDS))
    with pytest.raises(BadTokenFile):
        _found(tmp_path, b"HDTS\x07", _ENDS)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3_661, "1 h 1 min"), (86_400, "1 d"), (90_061, "1 d 1 h")],
)
def test_a_span_is_told_by_its_two_largest_units(seconds: int, words: str) -> None:
    assert in_words(timedelta(seconds=seconds)) == words
