"""The commit that a config repo is compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.config_source.checkouts import checkout, git, write
from toolkit.config_source import NoBase, open_base


def test_a_base_is_read_from_its_commit(tmp_path: Path) -> None:
    checkout(tmp_path)
    git(tmp_path, "tag", "old")
    write(tmp_path, {"feeds/clicks.yaml": "kind: feed\nname: clacks\n"})
    git(tmp_path, "commit", "--all", "--message=second")
    assert b"clacks" not in open_base(tmp_path, "old").files["feeds/clicks.yaml"]
    assert b"clacks" in open_base(tmp_path, "HEAD").files["feeds/clicks.yaml"]


@pytest.mark.parametrize("ref", ["origin/main", "HEAD~1", "--all", "", "v1 v2"])
def test_a_base_that_is_not_there_is_named(tmp_path: Path, ref: str) -> None:
    checkout(tmp_path)
    with pytest.raises(NoBase, match=f"found no {ref} to compare with: .* has no commit of that name; fetch it first"):
        open_base(tmp_path, ref)


def test_what_is_no_checkout_has_no_base(tmp_path: Path) -> None:
    write(tmp_path, {"repo.yaml": "name: x\n"})
    with pytest.raises(NoBase, match="is no git checkout"):
        open_base(tmp_path, "main")
    with pytest.raises(NoBase, match="is no git checkout"):
        open_base(tmp_path / "repo.yaml", "main")
