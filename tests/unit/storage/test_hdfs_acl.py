from __future__ import annotations

import pytest

from toolkit.el import CanonicalPath
from toolkit.storage import StorageFailure
from toolkit.storage.hdfs.acl import acl_parts, full_acl

_PATH = CanonicalPath("hdfs", "ns1", "/a")


def test_a_list_is_completed_from_the_permission_bits_whose_group_is_the_mask() -> None:
    assert full_acl(0o1754, ["user:eve:rw-", "group::r--", "default:other::---"]) == (
        *("user::rwx", "user:eve:rw-", "group::r--", "mask::r-x", "other::r--"),
        "default:other::---",
    )


def test_bits_alone_and_defaults_alone_are_not_completed() -> None:
    assert full_acl(0o750, []) == ()
    assert full_acl(0o750, ["default:other::---"]) == ("default:other::---",)


def test_an_entry_has_scope_type_name_and_permissions() -> None:
    assert acl_parts(_PATH, ["default:user:eve:r-x", "other::---"]) == [
        ("default", "user", "eve", "r-x"),
        ("access", "other", "", "---"),
    ]


@pytest.mark.parametrize("text", ["", "user:eve", "user:eve:xwr", "users::r--", "user:a,user:b:r--", "default::r--"])
def test_what_is_no_entry_is_refused(text: str) -> None:
    with pytest.raises(StorageFailure, match="is no entry"):
        acl_parts(_PATH, [text])
