"""`--result-file` on real stores: found out before anything is touched, written whole at the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo
from tests.testbed.s3 import S3Store
from toolkit.el import CanonicalPath
from toolkit.storage import StorageSpec, open_file_system

pytestmark = pytest.mark.slow

STORE = """\
kind: cluster
name: lake
interfaces: {{write: {{endpoint: "s3a://{bucket}/"}}}}
hadoop_conf: {settings}
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Local data of which two instances have to go."""
    made = Repo.make(tmp_path)
    made.fill("2026/03/01", 2)
    return made


def evict(repo: Repo, place: str) -> int:
    """The exit code of a run that writes its result there."""
    return run_here(repo, "--feed", "clicks", "--cluster", "primary", "--output", "json", "--result-file", place)


@pytest.mark.extended
def test_on_hdfs_it_replaces_the_one_before(repo: Repo, hdfs_dir: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = CanonicalPath.parse(f"{hdfs_dir}/a result.json")
    system = open_file_system(StorageSpec(scheme=place.scheme, authority=place.authority))
    for expected in (2, 0):
        assert evict(repo, str(place)) == 0
        with system.read(place) as stream:
            written = stream.read().decode()
        assert written == capsys.readouterr().out
        assert len(json.loads(written)["items"]) == expected
    assert [entry.name for entry in system.list(place.parent)] == ["a result.json"]


@pytest.mark.extended
@pytest.mark.parametrize("name", ["none/result.json", "file/result.json", "directory"])
def test_on_hdfs_what_cannot_be_written_is_refused_before_anything_is_touched(
    repo: Repo, hdfs_dir: str, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    base, before = CanonicalPath.parse(hdfs_dir), repo.tree()
    system = open_file_system(StorageSpec(scheme=base.scheme, authority=base.authority))
    system.mkdirs(base.child("directory"))
    system.write(base.child("file"), [])
    assert evict(repo, f"{hdfs_dir}/{name}") == 2
    assert "director" in capsys.readouterr().err
    assert repo.tree() == before


@pytest.mark.extended
def test_on_s3_it_has_the_settings_of_the_cluster_that_the_bucket_belongs_to(
    repo: Repo, s3: S3Store, s3_bucket: str, capsys: pytest.CaptureFixture[str]
) -> None:
    repo.write("clusters/lake.yaml", STORE.format(bucket=s3_bucket, settings=json.dumps(dict(s3.settings))))
    assert evict(repo, f"s3a://{s3_bucket}/results/1.json") == 0
    with s3.client() as client:
        written = client.get_object(Bucket=s3_bucket, Key="results/1.json")["Body"].read().decode()
    assert written == capsys.readouterr().out


@pytest.mark.extended
def test_a_bucket_that_is_not_there_is_found_out_before_anything_is_touched(
    repo: Repo, s3: S3Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", s3.endpoint)
    before = repo.tree()
    assert evict(repo, "s3a://no-such-bucket-of-ours/result.json") == 2
    assert "s3://no-such-bucket-of-ours/ is no bucket" in capsys.readouterr().err
    assert repo.tree() == before
