"""The folder of pages: what is written, what is left alone, and what is removed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from toolkit.pages.folder import MANIFEST, FolderTaken, PageFolder, PagesNotWritten, page_name


def written(folder: Path, pages: dict[str, str]) -> tuple[int, int]:
    with PageFolder.opened(folder) as site:
        for path, text in pages.items():
            site.write(path, text, f"inputs of {text}")
    return site.written, site.removed


def test_only_a_page_with_another_text_is_written(tmp_path: Path) -> None:
    assert written(tmp_path / "out", {"a.html": "1", "feeds/b.html": "1"}) == (2, 0)
    before = (tmp_path / "out/a.html").stat()
    assert written(tmp_path / "out", {"a.html": "1", "feeds/b.html": "2"}) == (1, 0)
    assert (tmp_path / "out/a.html").stat() == before
    assert (tmp_path / "out/feeds/b.html").read_text() == "2"


def test_a_page_made_from_the_same_inputs_need_not_be_rendered(tmp_path: Path) -> None:
    written(tmp_path, {"a.html": "1"})
    with PageFolder.opened(tmp_path) as site:
        assert not site.keep("a.html", "inputs of 2")
        assert not site.keep("b.html", "inputs of 1")
        assert site.keep("a.html", "inputs of 1")
    assert (site.written, site.removed, site.pages) == (0, 0, 1)
    (tmp_path / "a.html").unlink()
    with PageFolder.opened(tmp_path) as site:
        assert not site.keep("a.html", "inputs of 1"), "someone removed it"


def test_a_page_of_an_entity_that_is_gone_goes_and_a_file_of_somebody_else_stays(tmp_path: Path) -> None:
    written(tmp_path, {"index.html": "1", "feeds/gone.html": "1", "feeds/edited.html": "1"})
    (tmp_path / "notes.html").write_text("mine")
    (tmp_path / "feeds/edited.html").write_text("edited by hand")
    assert written(tmp_path, {"index.html": "1"}) == (0, 1)
    assert not (tmp_path / "feeds/gone.html").exists()
    assert (tmp_path / "feeds/edited.html").read_text() == "edited by hand"
    assert (tmp_path / "notes.html").read_text() == "mine"


@pytest.mark.parametrize("path", ["../victim.html", "/etc/victim.html", "a/../../victim.html", ".ssh/victim.html"])
def test_a_manifest_never_names_a_file_outside_that_is_removed(tmp_path: Path, path: str) -> None:
    out = tmp_path / "out"
    written(out, {"index.html": "1"})
    (tmp_path / "victim.html").write_text("1")
    record = json.loads((out / MANIFEST).read_text())
    (out / MANIFEST).write_text(json.dumps([path, *record[1:]]) + "\nno JSON\n[1]\n")
    assert written(out, {"index.html": "1"}) == (0, 0)
    assert (tmp_path / "victim.html").exists()


def test_a_page_behind_a_link_to_another_folder_is_not_removed(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    written(out, {"feeds/a.html": "1"})
    (out / "feeds").rename(elsewhere)
    (out / "feeds").symlink_to(elsewhere)
    assert written(out, {"index.html": "1"}) == (1, 0)
    assert (elsewhere / "a.html").exists()


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("mine")
    with pytest.raises(FolderTaken, match="did not write"):
        written(tmp_path, {"index.html": "1"})
    assert (tmp_path / "index.html").read_text() == "mine"


def test_two_processes_do_not_write_the_same_pages_at_once(tmp_path: Path) -> None:
    with PageFolder.opened(tmp_path) as site:
        site.write("index.html", "1")
        with pytest.raises(PagesNotWritten, match="another process"):
            written(tmp_path, {"index.html": "2"})
    assert written(tmp_path, {"index.html": "2"}) == (1, 0)


def test_a_run_that_is_killed_leaves_whole_pages_that_the_next_one_knows(tmp_path: Path) -> None:
    written(tmp_path, {"a.html": "1", "b.html": "1"})
    child = os.fork()
    if not child:
        with PageFolder.opened(tmp_path) as site:
            site.write("a.html", "2", "inputs of 2")
            site.write("new.html", "1", "inputs of 1")
            os._exit(9)
    os.waitpid(child, 0)
    with PageFolder.opened(tmp_path) as site:
        assert site.keep("a.html", "inputs of 2")
        assert site.keep("b.html", "inputs of 1")
    assert (site.written, site.removed) == (0, 1), "the new page is not wanted any more"
    assert sorted(each.name for each in tmp_path.iterdir()) == [MANIFEST, "a.html", "b.html"]


@pytest.mark.parametrize("name", ["../up", "a/b", ".hidden", "", "x" * 10_000, "</script>", "\u202ertl\n", "\ud800"])
def test_any_text_has_a_file_name_of_its_own(name: str) -> None:
    assert page_name("clicks.hourly-v2_x") == "clicks.hourly-v2_x"
    assert page_name(name) != page_name(name + "x")
    assert page_name(name).startswith("_")
    assert len(page_name(name)) < 100


def test_neither_a_file_of_somebody_else_nor_one_behind_a_link_is_overwritten(tmp_path: Path) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    written(out, {"index.html": "1"})
    (out / "notes.html").write_text("mine")
    with pytest.raises(FolderTaken, match=r"notes\.html is or has a file"):
        written(out, {"index.html": "1", "notes.html": "2"})
    assert (out / "notes.html").read_text() == "mine"
    elsewhere.mkdir()
    (out / "feeds").symlink_to(elsewhere)
    with pytest.raises(PagesNotWritten, match="is a link to another folder"):
        written(out, {"index.html": "1", "feeds/a.html": "2"})
    assert list(elsewhere.iterdir()) == []
