"""The pinned jars, with a Maven that is a small script."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.testbed.jars import Jars, MavenFailed, WrongJars, default_cache
from tests.testbed.missing import NoMaven

pytestmark = pytest.mark.extended

MAVEN = """#!/bin/sh
[ -f "${0%/*}/broken" ] && { echo "no such artifact"; exit 1; }
echo called >>"${0%/*}/calls"
for option; do case $option in -DoutputDirectory=*) target=${option#*=} ;; esac; done
mkdir -p "$target"
sleep 0.1
printf content >"$target/a-1.jar"
"""
SUM = hashlib.sha256(b"content").hexdigest()


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Jars:
    """Jars of which nothing is kept yet, and a Maven on PATH that brings `a-1.jar`."""
    (tmp_path / "bin").mkdir()
    maven = tmp_path / "bin" / "mvn"
    maven.write_text(MAVEN)
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}:/usr/bin:/bin")
    (tmp_path / "pom.xml").write_text("<project/>")
    (tmp_path / "sums").write_text(f"{SUM}  a-1.jar\n")
    return Jars(pom=tmp_path / "pom.xml", sums=tmp_path / "sums", cache=tmp_path / "cache")


def calls(jars: Jars) -> int:
    return len((jars.pom.parent / "bin" / "calls").read_text().splitlines())


@pytest.mark.usefixtures("java_home")
def test_jars_are_got_once_though_two_ask_at_once(jars: Jars) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = set(threads.map(lambda _: jars.fetched(), range(4)))
    assert found == {jars.directory}
    assert (jars.directory / "a-1.jar").read_bytes() == b"content"
    assert calls(jars) == 1
    assert sorted(each.name for each in jars.cache.iterdir()) == sorted([jars.directory.name, "lock"])


@pytest.mark.usefixtures("java_home")
@pytest.mark.parametrize("pinned", [f"{'0' * 64}  a-1.jar\n", "", f"{SUM}  a-1.jar\n{SUM}  b-2.jar\n"])
def test_other_jars_than_the_pinned_ones_are_refused_by_name_and_not_kept(jars: Jars, pinned: str) -> None:
    jars.sums.write_text(pinned)
    with pytest.raises(WrongJars, match=r"b-2\.jar" if "b-2" in pinned else r"a-1\.jar"):
        jars.fetched()
    assert [each.name for each in jars.cache.iterdir()] == ["lock"]


@pytest.mark.usefixtures("java_home")
def test_what_maven_said_is_told_when_it_fails(jars: Jars) -> None:
    (jars.pom.parent / "bin" / "broken").touch()
    with pytest.raises(MavenFailed, match="no such artifact"):
        jars.fetched()


@pytest.mark.parametrize("changed", ["pom.xml", "sums"])
def test_another_pom_or_other_sums_have_another_directory(jars: Jars, changed: str) -> None:
    before = jars.directory
    (jars.pom.parent / changed).write_text("other")
    assert jars.directory != before


def test_without_maven_only_jars_that_are_there_can_be_used(jars: Jars, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(NoMaven, match="apt-get install maven"):
        jars.check_available()
    jars.directory.mkdir(parents=True)
    jars.check_available()


def test_the_cache_is_outside_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert default_cache() == Path("/cache/feedctl/testbed")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/jo")
    assert default_cache() == Path("/home/jo/.cache/feedctl/testbed")
