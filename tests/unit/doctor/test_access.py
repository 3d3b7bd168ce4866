from __future__ import annotations

import os
from datetime import UTC, datetime

import pytest

from toolkit.doctor.access import Access, Actor, local_actor, write_access
from toolkit.el import CanonicalPath
from toolkit.storage import FileKind, FileStatus


def _status(permission: int | None) -> FileStatus:
    return FileStatus(
        path=CanonicalPath("hdfs", "ns1", "/a"),
        kind=FileKind.DIRECTORY,
        size=0,
        modified=datetime(2026, 1, 1, tzinfo=UTC),
        owner="etl",
        group="staff",
        permission=permission,
    )


_OWNER, _MEMBER, _OTHER = (
    Actor(name="etl", groups=frozenset()),
    Actor(name="x", groups=frozenset({"staff"})),
    Actor(name="x", groups=frozenset({"y"})),
)


@pytest.mark.parametrize(
    ("permission", "owner", "member", "other"),
    [
        (0o755, Access.YES, Access.NO, Access.NO),
        (0o775, Access.YES, Access.YES, Access.NO),
        (0o777, Access.YES, Access.YES, Access.YES),
        (0o1777, Access.YES, Access.YES, Access.YES),
        (0o077, Access.NO, Access.YES, Access.YES),
        (0o666, Access.NO, Access.NO, Access.NO),
        (0o707, Access.YES, Access.NO, Access.YES),
    ],
)
def test_the_first_class_that_somebody_is_in_decides(
    permission: int, owner: Access, member: Access, other: Access
) -> None:
    found = [write_access(_status(permission), actor) for actor in (_OWNER, _MEMBER, _OTHER)]
    assert found == [owner, member, other]


@pytest.mark.parametrize(
    ("permission", "access"),
    [(0o755, Access.NO), (0o775, Access.BY_GROUP), (0o777, Access.YES), (0o707, Access.BY_GROUP)],
)
def test_where_only_the_store_knows_the_groups_they_count_when_they_matter(permission: int, access: Access) -> None:
    assert write_access(_status(permission), Actor(name="x")) is access


def test_permission_bits_do_not_bind_the_superuser_and_none_say_nothing() -> None:
    assert write_access(_status(0), Actor(name="x", is_superuser=True)) is Access.YES
    assert write_access(_status(None), Actor(name="etl")) is Access.UNKNOWN


def test_this_process_is_the_superuser_when_it_is() -> None:
    assert local_actor().is_superuser is (os.geteuid() == 0)
