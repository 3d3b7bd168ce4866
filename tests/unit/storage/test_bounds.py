"""Tests of what a removal may touch."""

from __future__ import annotations

import pytest

from toolkit.el import CanonicalPath
from toolkit.storage import OutsideBase
from toolkit.storage.deletion import names_below, refuse_outside

BASE = CanonicalPath("s3", "bucket", "/data/a")


def at(path: str) -> CanonicalPath:
    return CanonicalPath("s3", "bucket", path)


def test_what_is_strictly_below_may_be_touched() -> None:
    assert names_below(at("/data/a/b/..c"), BASE) == ["b", "..c"]
    assert names_below(at("/x"), at("/")) == ["x"]


@pytest.mark.parametrize(
    "path",
    [
        BASE,
        at("/data"),
        at("/"),
        at("/data/ab"),
        at("/data/a/"),
        at("/data/a//b"),
        at("/data/a/./b"),
        at("/data/a/b/../../c"),
        CanonicalPath("s3", "other", "/data/a/b"),
        CanonicalPath("hdfs", "bucket", "/data/a/b"),
    ],
)
def test_everything_else_is_refused(path: CanonicalPath) -> None:
    with pytest.raises(OutsideBase) as raised:
        refuse_outside(path, BASE)
    assert (raised.value.path, raised.value.below) == (path, BASE)
