"""`feedctl dev`: what keeps a server from starting is said before Java starts."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl


def test_a_metastore_without_a_java_says_what_it_needs(
    feedctl: Feedctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    refused = feedctl("dev", "metastore", str(tmp_path / "metastore"))
    assert refused.code == 2
    assert f"JAVA_HOME={tmp_path} has no bin/java; the metastore needs Java 17 or newer" in refused.err


def test_a_metastore_on_a_port_in_use_names_the_port(
    feedctl: Feedctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.touch(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = feedctl("dev", "metastore", str(tmp_path / "metastore"), "--port", str(port))
    assert refused.code == 1
    assert f"port {port} of 127.0.0.1 is in use; choose another one with --port" in refused.err
    assert not (tmp_path / "metastore").exists()
