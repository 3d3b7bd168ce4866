"""Delivery of results: a lost reader or a bad file never hides what a run did."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from toolkit.bootstrap.config import RepoRequest
from toolkit.cli.delivery import BadResultFile, ResultFile, ResultFileNotWritten
from toolkit.cli.streams import encoded, print_result
from toolkit.errors import NotImplementedYet

REPO = RepoRequest(variables={})


def test_credentials_in_a_uri_are_refused_and_not_repeated() -> None:
    with pytest.raises(BadResultFile, match="found a user, a key or a password") as raised:
        ResultFile.parse("s3a://AKIA:se/same@bucket/result.json", REPO)
    assert "same" not in str(raised.value)


def test_a_result_file_is_a_path_or_a_file_uri(tmp_path: Path) -> None:
    for text in (str(tmp_path / "a b.json"), f"file://{tmp_path}/a b.json", f"file:{tmp_path}/a b.json"):
        ResultFile.parse(text, REPO).write(text)
        assert (tmp_path / "a b.json").read_text() == text


def test_a_relative_path_begins_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ResultFile.parse("result.json", REPO).write("{}")
    assert (tmp_path / "result.json").read_text() == "{}"


@pytest.mark.parametrize("text", ["hdfs:/result.json", "s3a://bucket/", "ftp://x/y", "none/result.json", ".", "/"])
def test_what_cannot_be_written_is_found_out_before(text: str) -> None:
    with pytest.raises(BadResultFile, match="--result-file"):
        ResultFile.parse(text, REPO)


def test_a_store_that_has_no_adapter_is_found_out_before() -> None:
    with pytest.raises(NotImplementedYet, match="ofs"):
        ResultFile.parse("ofs://om/vol/result.json", REPO)


def test_a_link_to_a_directory_is_a_directory(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    ResultFile.parse(str(tmp_path / "link" / "result.json"), REPO).write("{}")
    assert (tmp_path / "real" / "result.json").read_text() == "{}"
    with pytest.raises(BadResultFile, match="it is a directory"):
        ResultFile.parse(str(tmp_path / "link"), REPO)


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_directory_that_may_not_be_written_into_is_found_out_before(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(BadResultFile, match="the user of this run may not write into"):
        ResultFile.parse(str(tmp_path / "result.json"), REPO)
    tmp_path.chmod(0o755)


def test_a_write_that_fails_says_so_and_keeps_the_old_file(tmp_path: Path) -> None:
    file = ResultFile.parse(str(tmp_path / "inner.json"), REPO)
    tmp_path.rename(tmp_path.with_name("moved"))
    with pytest.raises(ResultFileNotWritten, match="the run is over"):
        file.write("{}")
    tmp_path.with_name("moved").rename(tmp_path)


def test_a_name_that_is_no_unicode_stays_valid_json() -> None:
    assert encoded('"\udce9 ü"') == b'"\\udce9 \xc3\xbc"'


def test_output_is_utf8_whatever_the_locale(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    print_result("ü\n")
    assert capsysbinary.readouterr().out == b"\xc3\xbc\n"


def test_a_closed_output_is_no_error() -> None:
    script = (
        "import sys\nfrom toolkit.cli.streams import print_result\nsys.stdin.read()\n"
        "print_result('line' * 100000)\nsys.exit(143)\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", script], **pipes) as process:  # type: ignore[call-overload]
        process.stdout.close()
        process.stdin.close()
        assert b"Traceback" not in process.stderr.read()
    assert process.returncode == 143
