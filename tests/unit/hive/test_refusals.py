"""Tests of what is refused before a metastore is asked: exit code 2, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrypoints import hive_export, hive_import, hive_replication, replication
from toolkit.cli.boundary import run_app

_ALWAYS = "{start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}"
_TABLE = 'table: "catalog:a:clicks#ds=${YEAR}-${MONTH}-${DAY}"'
_APPS = {
    "hive_export": hive_export.app,
    "hive_import": hive_import.app,
    "hive_replication": hive_replication.app,
    "replication": replication.app,
}


def repo(directory: Path, *, feed: str = _TABLE, more: str = "", registry: str = "thrift://h:9083") -> Path:
    """A config repo with a feed on two clusters."""
    interfaces = f'write: {{endpoint: "file://{directory}/data"}}'
    if registry:
        interfaces += f', registry: {{endpoint: "{registry}"}}'
    documents = {
        "repo.yaml": f"name: tables\nledger: sqlite:///{directory}/ledger.db\n",
        "feeds/clicks.yaml": f"kind: feed\nname: clicks\nfrequency: days(1)\n{feed}\n{more}\nclusters:\n"
        f"  - {{name: primary, type: source, validity: {_ALWAYS}}}\n"
        f"  - {{name: backup, type: target, validity: {_ALWAYS}}}\n",
        **{
            f"clusters/{name}.yaml": f"kind: cluster\nname: {name}\ncolo: {name}\ninterfaces: {{{interfaces}}}\n"
            for name in ("primary", "backup")
        },
    }
    for name, text in documents.items():
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(text)
    return directory


def refused(name: str, place: Path, capsys: pytest.CaptureFixture[str], *more: str) -> str:
    """Return what a run says that is refused."""
    arguments = ["--feed", "clicks", "--time", "2026-03-02T00:00Z", "--config-repo", str(place), *more]
    assert run_app(_APPS[name], arguments) == 2
    return capsys.readouterr().err


@pytest.mark.parametrize("line", ["overwrite: true", "removeDeletedFiles: false", "preserveAcl: true"])
def test_a_property_that_a_copy_of_a_table_cannot_keep(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = repo(tmp_path, more=f"properties: {{{line}}}")
    assert f"{line} of a table is not implemented" in refused("hive_replication", place, capsys)


def test_a_feed_of_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = repo(tmp_path, feed='locations: {data: "/x/${YEAR}-${MONTH}-${DAY}"}')
    assert "copy them with replication.py" in refused("hive_replication", place, capsys)
    assert "copy them with replication.py" in refused(
        "hive_export", place, capsys, "--cluster", "primary", "--to", "file:/x"
    )


def test_a_cluster_without_a_metastore(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "registry" in refused("hive_replication", repo(tmp_path, registry=""), capsys)


@pytest.mark.parametrize(
    ("more", "output"),
    [
        (("--cluster", "primary", "--to", "relative"), "--to"),
        (("--cluster", "primary", "--to", "file:/x", "--whole-table", "--start", "2026-03-01T00:00Z"), "--whole-table"),
        (("--cluster", "primary", "--to", "file:/x", "--end", "2026-03-01T00:00Z"), "add --start"),
        (
            (
                "--to",
                "file:/x",
            ),
            "--cluster",
        ),
        (("--cluster", "primary", "--cluster", "backup", "--to", "file:/x"), "one feed and one cluster"),
    ],
)
def test_what_cannot_be_asked_for_of_an_export(
    more: tuple[str, ...], output: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert output in refused("hive_export", repo(tmp_path), capsys, *more)


def test_replication_of_paths_names_the_script_for_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "hive_replication.py" in refused("replication", repo(tmp_path), capsys)
