"""The emulators of cloud stores are built once; here a small script is the build tool."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tests.testbed import builds
from tests.testbed.builds import AZURITE, GCS, Build, BuildFailed
from tests.testbed.missing import Missing

NPM = """#!/bin/sh
echo call >>{calls}
[ "$1" = ci ] && [ -f package-lock.json ] && sleep 0.1 && mkdir node_modules
"""


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Azurite, of which nothing is kept yet, and an npm beside a node that bring it at once."""
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(NPM.format(calls=tmp_path / "calls"))
    npm.chmod(0o755)
    monkeypatch.setattr(builds, "tool", npm.with_name)
    return replace(AZURITE, cache=tmp_path / "cache")


def test_it_is_built_once_though_two_ask_at_once(build: Build, tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        found = set(threads.map(lambda _: build.built(), range(4)))
    assert found == {build.directory}
    assert (build.directory / "node_modules").is_dir()
    assert (tmp_path / "calls").read_text() == "call\n"
    assert sorted(each.name for each in build.cache.iterdir()) == [build.directory.name, "azurite.lock"]


def test_what_fails_is_told_and_not_kept(build: Build) -> None:
    failing = replace(build, arguments=("npm", "no-such-command"))
    with pytest.raises(BuildFailed, match="azurite"):
        failing.built()
    assert [each.name for each in build.cache.iterdir()] == ["azurite.lock"]


def test_a_missing_tool_is_told_unless_it_is_built_and_needs_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = "no Go"

    def missing(_: str) -> Path:
        raise Missing(output)

    monkeypatch.setattr(builds, "tool", missing)
    for build in (GCS, AZURITE):
        kept = replace(build, cache=tmp_path)
        with pytest.raises(Missing):
            kept.check_available()
        kept.directory.mkdir()
    replace(GCS, cache=tmp_path).check_available()
    with pytest.raises(Missing):
        replace(AZURITE, cache=tmp_path).check_available()


def test_all_that_is_downloaded_is_pinned_by_a_sum_and_no_host_is_named() -> None:
    here = Path(builds.__file__).parent
    lock = (here / "azurite" / "package-lock.json").read_text()
    assert lock.count('"integrity": "sha512-') == lock.count('"version":')
    assert '"resolved"' not in lock
    assert (here / "gcs" / "go.sum").read_text().count(" h1:") > 100
