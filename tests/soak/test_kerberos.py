"""The whole way on a cluster with Kerberos: a KDC, a NameNode and a DataNode of our own, and a ticket cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.soak.kerberos_hdfs import SecureHdfs, write_named
from tests.soak.kerberos_realm import Realm, check_programs
from tests.testbed.client import check_machine
from tests.testbed.missing import Missing
from tests.testbed.processes import Starter

pytestmark = pytest.mark.soak

_ROOT = Path(__file__).resolve().parents[2]
_CLIENT = """
import json, sys
from toolkit.el import CanonicalPath
from toolkit.storage import StorageError, StorageSpec
from toolkit.storage.hdfs.file_system import opened

settings = json.loads(sys.argv[1])
base = CanonicalPath.parse(settings["fs.defaultFS"] + "/alice")
spec = StorageSpec(scheme="hdfs", authority=base.authority, hadoop_conf=settings)
system = opened(spec, lambda: None)
try:
    system.mkdirs(base.child("dir"))
    system.write(base.child("dir").child("file"), [b"secret" * 100_000])
    with system.read(base.child("dir").child("file")) as stream:
        print(len(stream.read()))
    print(*[entry.name for entry in system.list(base)], system.status(base.child("dir")).owner)
    system.delete(base.child("dir"), below=base)
    print(len(list(system.list(base))))
except StorageError as error:
    print(error.code, error)
"""
_AS_SUPERUSER = """
import json, sys
from hdfs_native import Client
client = Client(json.loads(sys.argv[1])["fs.defaultFS"], json.loads(sys.argv[1]))
client.mkdirs("/alice", create_parent=True)
client.set_owner("/alice", "alice", "users")
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Secured:
    """A realm, its HDFS, the ticket cache of its user alice, and the HADOOP_CONF_DIR that lets tickets go there."""

    realm: Realm
    cluster: SecureHdfs
    settings: dict[str, str]
    alice: Path
    operators: Path

    def ran(self, program: str, cache: Path | None, **environment: str) -> list[str]:
        """The lines that a program writes; its Kerberos is set up before its first look at it."""
        known = {key: value for key, value in os.environ.items() if not key.startswith(("HADOOP_", "KRB5"))}
        ended = subprocess.run(
            [sys.executable, "-c", program, json.dumps(self.settings)],
            cwd=_ROOT,
            env=known | {"HADOOP_CONF_DIR": str(self.operators)} | self.realm.client_environment(cache) | environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.splitlines()


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    try:
        check_programs()
        check_machine("hdfs")
    except Missing as missing:
        pytest.skip(str(missing))
    place, starter = tmp_path_factory.mktemp("kerberos"), Starter()
    try:
        realm = Realm(place / "realm")
        realm.start(starter)
        alice = realm.ticket("alice", realm.keytab("alice", "alice"))
        cluster = SecureHdfs(place / "hdfs", realm)
        settings, operators = cluster.start(starter), place / "operators"
        write_named(operators, settings["fs.defaultFS"])
        found = Secured(realm=realm, cluster=cluster, settings=settings, alice=alice, operators=operators)
        found.ran(_AS_SUPERUSER, realm.ticket("hdfs/localhost", realm.directory / "service.keytab"))
        yield found
    finally:
        starter.end()


def test_a_ticket_cache_is_enough_to_list_write_read_and_delete(secured: Secured) -> None:
    assert secured.ran(_CLIENT, secured.alice) == ["600000", "dir alice", "0"]


def test_a_keytab_is_enough_too(secured: Secured) -> None:
    keytab = str(secured.realm.directory / "alice.keytab")
    assert secured.ran(_CLIENT, None, KRB5_CLIENT_KTNAME=keytab) == ["600000", "dir alice", "0"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_delegation_tokens_are_enough_too(secured: Secured, tmp_path: Path, host: str) -> None:
    """As in a container of YARN, where there are no tickets; a token names its NameNode by address, not by name."""
    tokens = tmp_path / "tokens"
    secured.cluster.fetch_tokens(tokens, secured.realm.client_environment(secured.alice))
    address = {"fs.defaultFS": secured.settings["fs.defaultFS"].replace("localhost", host)}
    holder = replace(secured, settings=secured.settings | address)
    assert holder.ran(_CLIENT, None, HADOOP_TOKEN_FILE_LOCATION=str(tokens)) == ["600000", "dir alice", "0"]


def test_a_ticket_is_not_shown_where_only_the_config_repo_sends_it(secured: Secured, tmp_path: Path) -> None:
    unnamed = replace(secured, operators=tmp_path)
    with pytest.raises(AssertionError, match="a Kerberos ticket would go to"):
        unnamed.ran(_CLIENT, secured.alice)


def test_without_a_ticket_the_error_says_what_to_do(secured: Secured) -> None:
    (line,) = secured.ran(_CLIENT, None)
    assert line.startswith("permission_denied ")
    assert "kinit" in line


def test_a_client_that_does_not_know_of_kerberos_is_told(secured: Secured) -> None:
    simple = replace(secured, settings={"fs.defaultFS": secured.settings["fs.defaultFS"]})
    (line,) = simple.ran(_CLIENT, secured.alice)
    assert "Kerberos" in line
