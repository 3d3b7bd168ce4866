"""Raw copies between encryption zones of a real HDFS, whose keys are in a file instead of a KMS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import hdfs_native
import pytest

from tests.integration.hdfs_admin import crypto, key
from tests.integration.replications import KEYS, End, hour
from tests.integration.test_replication_attributes import INSTANCE, asking
from tests.testbed.hdfs import HdfsCluster
from toolkit.el import CanonicalPath
from toolkit.storage import RAW_PREFIX, raw_path

pytestmark = [pytest.mark.slow, pytest.mark.extended, pytest.mark.timeout(600)]
PART = f"{INSTANCE}/part-0"


def _restart(cluster: HdfsCluster) -> None:
    cluster.stop_datanode()
    cluster.stop_namenode()
    cluster.start_namenode()
    cluster.start_datanode()
    cluster.wait_ready()


@pytest.fixture
def zoned(restartable_hdfs: HdfsCluster, tmp_path: Path) -> Iterator[HdfsCluster]:
    """An HDFS whose servers have the key ``k``."""
    provider = f"jceks://file{tmp_path}/keys.jceks"
    key(restartable_hdfs, "create", "k", "-provider", provider)
    conf = restartable_hdfs.directory / "conf/core-site.xml"
    before = conf.read_text()
    name = "hadoop.security.key.provider.path"
    setting = f"<property><name>{name}</name><value>{provider}</value></property>"
    conf.write_text(before.replace("</configuration>", f"{setting}</configuration>"))
    _restart(restartable_hdfs)
    yield restartable_hdfs
    hdfs_native.Client(restartable_hdfs.uri).delete("/zones", recursive=True)
    conf.write_text(before)
    _restart(restartable_hdfs)


def end(cluster: HdfsCluster, *, is_zone: bool) -> End:
    """A new directory, over HTTP."""
    found = End(uri=f"{cluster.webhdfs}/zones/{uuid4().hex}")
    found.system.mkdirs(found.root)
    if is_zone:
        crypto(cluster, "-createZone", "-keyName", "k", "-path", found.root.path)
    return found


def read(side: End, path: CanonicalPath) -> bytes:
    """The bytes at a path."""
    with side.system.read(path) as stream:
        return stream.read()


def test_bytes_of_a_zone_are_copied_as_they_are_and_can_be_decrypted(zoned: HdfsCluster, tmp_path: Path) -> None:
    source, target, plain = end(zoned, is_zone=True), end(zoned, is_zone=True), end(zoned, is_zone=False)
    copying = asking(tmp_path, source, target, "tdeEncryptionEnabled", "preserveTimes")
    stored = read(source, raw_path(source.at(PART)))
    assert stored != hour(0)[PART]
    assert copying.run(time=KEYS[0])[0] == 0
    assert target.files(hidden=True) == hour(0)
    assert read(target, raw_path(target.at(PART))) == stored
    names = target.system.xattrs(raw_path(target.at(PART)))
    assert names == source.system.xattrs(raw_path(source.at(PART)))
    assert any(name.startswith(f"{RAW_PREFIX}hdfs.crypto") for name in names)
    assert copying.feedctl("verify", "clicks", "--cluster", "backup")[0] == 0
    for number, (one, two) in enumerate([(source, plain), (plain, target)]):
        directory = tmp_path / str(number)
        directory.mkdir()
        code, result = asking(directory, one, two, "tdeEncryptionEnabled").run(time=KEYS[0])
        assert (code, result["instances"][0]["failure"]["code"]) == (1, "not_copied_raw")
        assert "is in no encryption zone" in result["instances"][0]["failure"]["message"]
