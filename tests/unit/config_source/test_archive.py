from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import REPO, checkout, git
from toolkit.config_source import BadArchive, SnapshotKind, from_directory, from_git
from toolkit.config_source.archive import from_archive
from toolkit.el import parse_instant

WANTED = {name: REPO[name].encode() for name in ("repo.yaml", "feeds/clicks.yaml")}


@pytest.mark.parametrize("prefix", ["", "web-1.0/"])
@pytest.mark.parametrize("suffix", ["zip", "tar", "tar.gz", "tgz"])
def test_what_git_archive_makes_is_known_by_its_commit(tmp_path: Path, suffix: str, prefix: str) -> None:
    root = checkout(tmp_path / "repo")
    path = tmp_path / f"repo.{suffix}"
    git(root, "archive", f"--prefix={prefix}", f"--output={path}", "HEAD")
    snapshot = from_archive(path)
    assert snapshot.files == WANTED
    assert snapshot.names == {"workflows/clicks.sql"}
    assert snapshot.id.kind is SnapshotKind.ARCHIVE
    assert snapshot.id.value == git(root, "rev-parse", "HEAD")
    assert snapshot.id.committed_at == parse_instant("2026-03-01T06:40Z")


SUITES = {"expectations/clicks.yaml": "expectations: []\n", "expectations/web/rows.json": "{}\n"}


@pytest.mark.parametrize("suffix", ["zip", "tar.gz"])
def test_suites_are_in_what_is_shipped_and_count_for_what_it_is_known_by(tmp_path: Path, suffix: str) -> None:
    root = checkout(tmp_path / "repo", {**REPO, **SUITES, "workflows/params.json": "{}\n"})
    path = tmp_path / f"repo.{suffix}"
    git(root, "archive", "--prefix=web/", f"--output={path}", "HEAD")
    wanted = {**WANTED, **{name: text.encode() for name, text in SUITES.items()}}
    assert from_archive(path).files == from_git(root).files == from_directory(root).files == wanted
    before = from_directory(root).id
    (root / "expectations" / "clicks.yaml").write_text("expectations: [{type: expect_a}]\n")
    assert from_directory(root).id != before


def make_zip(path: Path, texts: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 3, 1, 6, 40, 0)), text)
    return path


def make_tar(path: Path, texts: dict[str, str], links: dict[str, str] | None = None) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, text in texts.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(text.encode()), 1_772_347_200
            archive.addfile(info, io.BytesIO(text.encode()))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return path


def test_any_other_archive_is_known_by_its_digest(tmp_path: Path) -> None:
    snapshot = from_archive(make_zip(tmp_path / "a.zip", REPO))
    assert snapshot.files == WANTED
    assert snapshot.id.value.startswith("sha256:")
    assert snapshot.id.committed_at == parse_instant("2026-03-01T06:40Z")


def test_names_with_a_leading_dot_slash_are_read(tmp_path: Path) -> None:
    assert (
        from_archive(make_tar(tmp_path / "a.tar", {f"./{name}": text for name, text in REPO.items()})).files == WANTED
    )


@pytest.mark.parametrize("name", ["../feeds/x.yaml", "/etc/feeds/x.yaml", "feeds/../../x.yaml", "feeds\\..\\x.yaml"])
def test_a_name_that_leads_outside_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadArchive, match="leads outside of the archive"):
        from_archive(make_tar(tmp_path / "a.tar", {**REPO, name: "x"}))


def test_a_link_in_an_archive_is_a_problem(tmp_path: Path) -> None:
    snapshot = from_archive(make_tar(tmp_path / "a.tar", REPO, {"feeds/views.yaml": "/etc/passwd"}))
    assert [(each.file, each.rule) for each in snapshot.problems] == [("feeds/views.yaml", "symlink")]
    assert snapshot.files == WANTED


def test_a_name_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = make_tar(tmp_path / "a.tar", REPO)
    with tarfile.open(path, "a") as archive:
        archive.addfile(tarfile.TarInfo("feeds/clicks.yaml"))
    with pytest.raises(BadArchive, match=r"has the name 'feeds/clicks\.yaml' twice"):
        from_archive(path)


@pytest.mark.parametrize("texts", [{}, {"feeds/clicks.yaml": "x"}, {"a/repo.yaml": "x", "b/repo.yaml": "x"}])
def test_an_archive_without_a_config_repo_says_so(tmp_path: Path, texts: dict[str, str]) -> None:
    with pytest.raises(BadArchive, match=r"has no repo\.yaml at its top"):
        from_archive(make_zip(tmp_path / "a.zip", texts))


@pytest.mark.parametrize("name", ["a.zip", "a.tar", "a.tgz"])
def test_a_damaged_archive_says_so(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"no archive at all" * 100)
    with pytest.raises(BadArchive, match="cannot be read"):
        from_archive(tmp_path / name)


def test_a_truncated_archive_says_so(tmp_path: Path) -> None:
    root = checkout(tmp_path / "repo", {**REPO, "feeds/large.yaml": "x" * 100_000})
    git(root, "archive", f"--output={tmp_path / 'a.tar.gz'}", "HEAD")
    data = (tmp_path / "a.tar.gz").read_bytes()
    (tmp_path / "b.tar.gz").write_bytes(data[: len(data) // 2])
    with pytest.raises(BadArchive, match="cannot be read"):
        from_archive(tmp_path / "b.tar.gz")


@pytest.mark.extended
def test_an_archive_that_expands_without_end_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("repo.yaml", "name: web\n")
        for number in range(3):
            archive.writestr(f"feeds/bomb{number}.yaml", bytes(100 << 20))
    with pytest.raises(BadArchive, match="has more than 256 MiB of configuration"):
        from_archive(tmp_path / "a.zip")
