from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.plain_files import replace_file


def test_a_file_is_replaced_as_a_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    file.chmod(0o750)
    replace_file(file, b"new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o750)
    assert list(tmp_path.iterdir()) == [file]


def test_a_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    replace_file(tmp_path / "a", b"x", 0o600)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_a_link_of_the_name_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other")
    (tmp_path / "a").symlink_to("other")
    replace_file(tmp_path / "a", b"new")
    assert ((tmp_path / "other").read_text(), (tmp_path / "a").is_symlink()) == ("other", False)


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path / "a", b"new")
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
