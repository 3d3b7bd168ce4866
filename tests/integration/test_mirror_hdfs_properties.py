"""Mirrors that keep what only HDFS has, and copy bytes as they are below the raw directory, on a real one."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from tests.integration.mirror_runs import MirrorRuns
from tests.testbed.hdfs import HdfsCluster
from toolkit.cli.main import main
from toolkit.storage import BlockLayout, raw_path
from toolkit.transfer.trees import below

pytestmark = [pytest.mark.slow, pytest.mark.extended]
LAYOUT = BlockLayout(2 << 20, 2)
_KEPT = "  preserve: [block_size, replication_number, checksum_type]\n  tde_encryption_enabled: true\n"


def mirror(hdfs: HdfsCluster, directory: Path, kind: str) -> MirrorRuns:
    """A mirror of a type whose both ends are reached by WebHDFS, with a file of another layout at the source."""
    runs = MirrorRuns(hdfs=hdfs, directory=directory)
    runs.write()
    repo = directory / "repo"
    (repo / "clusters/two.yaml").write_text((repo / "clusters/one.yaml").read_text().replace("one", "two"))
    text = (repo / "mirrors/sales.yaml").read_text()
    if kind == "hdfs":
        lines = text.replace("hdfs_snapshot", "hdfs").replace("_snapshot_dir", "_dir").splitlines()
        text = "\n".join(line for line in lines if "_retention" not in line) + "\n"
    (repo / "mirrors/sales.yaml").write_text(text + _KEPT)
    runs.system.write_in_blocks(below(runs.source, "laid out"), [b"some bytes"], LAYOUT)
    runs.system.set_xattr(raw_path(below(runs.source, "laid out")), "raw.test", b"\x00key")
    runs.fill({"deep/plain": "plain"})
    return runs


@pytest.mark.parametrize("kind", ["hdfs", "hdfs_snapshot"])
def test_a_mirror_keeps_layouts_and_raw_attributes(hdfs: HdfsCluster, tmp_path: Path, kind: str) -> None:
    sales = mirror(hdfs, tmp_path, kind)
    assert sales.run(0, "--dry-run")[0] == 0
    code, result = sales.run(0)
    assert (code, result["status"]) == (0, "succeeded")
    assert sales.tree(sales.target) == sales.tree(sales.source)
    system, copy = sales.system, below(sales.target, "laid out")
    assert system.status(copy).layout == LAYOUT
    assert system.xattrs(raw_path(copy)) == {"raw.test": b"\x00key"}
    plain = [system.status(below(root, "deep/plain")).layout for root in (sales.source, sales.target)]
    assert plain[0] == plain[1]
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["verify", "--mirror", "sales", *sales.repo]) == 0


@pytest.mark.parametrize("kind", ["hdfs", "hdfs_snapshot"])
def test_what_cannot_be_kept_is_refused_in_the_plan(
    hdfs: HdfsCluster, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sales = mirror(hdfs, tmp_path, kind)
    repo = tmp_path / "repo"
    cluster, values = repo / "clusters/two.yaml", repo / "mirrors/sales.yaml"
    web, text = cluster.read_text(), values.read_text()
    native = web.replace(hdfs.webhdfs, hdfs.uri).replace("}}", f'}}, readonly: {{endpoint: "{hdfs.webhdfs}"}}}}')

    def failure(*more: str) -> dict[str, str]:
        code, result = sales.run(0, *more)
        assert (code, sales.tree(sales.target)) == (1, {})
        found: dict[str, str] = result["instances"][0]["failure"]
        return found

    cluster.write_text(native)
    found = failure("--dry-run")
    assert (found["code"], "has no checksum_type by its own protocol" in found["message"]) == ("not_preserved", True)
    values.write_text(text.replace(", checksum_type", ""))
    assert failure()["code"] == "not_copied_raw"
    cluster.write_text(web)
    monkeypatch.setenv("HADOOP_USER_NAME", "eve")
    found = failure()
    assert (found["code"], "only the superuser" in found["message"]) == ("not_copied_raw", True)
