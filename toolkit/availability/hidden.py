"""Names of files that readers of data leave out, by the rule of Hadoop, Hive and Spark."""

from __future__ import annotations

import re

_HIDDEN = re.compile(r"(?:^|/)(?:\.|_[^/=]*(?:/|$))")


def is_hidden(name: str) -> bool:
    """Return whether a file is hidden: a part of its name begins with a dot, or with ``_`` and is not a partition.

    Args:
        name: relative to the directory of the data.
    """
    return _HIDDEN.search(name) is not None


def is_being_copied(name: str) -> bool:
    """Return whether a file still has the name that `hadoop fs -put` gives it until it is complete."""
    return name.endswith("._COPYING_")
