"""An eviction on HDFS by a user who may remove nearly all of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo
from toolkit.el import CanonicalPath
from toolkit.storage import FileSystem, StorageSpec, open_file_system

pytestmark = pytest.mark.slow

_DENIED = "2026/02/01/00/03"


def _filled(system: FileSystem, root: CanonicalPath) -> None:
    """Two hours of old minutes that belong to alice, all but one, and a young one."""
    hours = [f"2026/{month}/01/00" for month in ("01", "02")]
    minutes = [f"{hour}/{minute:02d}" for hour in hours for minute in range(7)]
    for name in [*minutes, "2026/03/19/00/00"]:
        system.mkdirs(CanonicalPath(root.scheme, root.authority, f"{root.path}/clicks/{name}/part"))
    _give(system, root, "alice")
    denied = CanonicalPath(root.scheme, root.authority, f"{root.path}/clicks/{_DENIED}")
    system.set_owner(denied, owner="somebody")
    system.set_permission(denied, 0o755)


def _give(system: FileSystem, path: CanonicalPath, owner: str) -> None:
    system.set_owner(path, owner=owner)
    for entry in list(system.list(path)):
        _give(system, path.child(entry.name), owner)


@pytest.mark.extended
def test_what_is_denied_is_named_and_all_else_goes(
    tmp_path: Path, hdfs_dir: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = CanonicalPath.parse(hdfs_dir)
    system = open_file_system(StorageSpec(scheme=root.scheme, authority=root.authority))
    _filled(system, root)
    repo = Repo.make(tmp_path)
    repo.write(
        "clusters/primary.yaml", f'kind: cluster\nname: primary\ninterfaces: {{write: {{endpoint: "{root}"}}}}\n'
    )
    monkeypatch.setenv("HADOOP_USER_NAME", "alice")
    assert run_here(repo, "--feed", "clicks", "--output", "json") == 4
    result = json.loads(capsys.readouterr().out)
    monkeypatch.undo()
    failed = [(item["kind"], item["path"], item["code"]) for item in result["items"] if item["outcome"] != "done"]
    assert failed == [("instance", f"{root}/clicks/{_DENIED}", "permission_denied")]
    assert len(result["items"]) == 14
    (note,) = result["feeds"][0]["notes"]
    assert note.endswith("went instance by instance: it could not be removed as a whole (permission_denied)")
    months = system.list(root.child("clicks").child("2026"))
    assert [entry.name for entry in months] == ["02", "03"]
    dropped = [line for line in repo.audit if "removed by one call, with 7 items" in str(line.get("message"))]
    assert [line["path"] for line in dropped] == [f"{root}/clicks/2026/01"]
