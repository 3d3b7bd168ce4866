"""A directory, an archive or a git commit as a snapshot of the config repo; the only user of git."""

from toolkit.config_source.base import NoBase, open_base
from toolkit.config_source.checkout import Checkout, find_checkout
from toolkit.config_source.commit import from_git
from toolkit.config_source.directory import from_directory, read_file
from toolkit.config_source.errors import (
    BadArchive,
    BadCheckout,
    BadCommitDate,
    DirtyCheckout,
    GitFailed,
    NoCommit,
    NoConfigRepo,
    StaleSnapshot,
)
from toolkit.config_source.opening import REPO_VARIABLE, find_repo, named_repo, open_snapshot
from toolkit.config_source.snapshot import Snapshot, SnapshotId, SnapshotKind, require_age

__all__ = [
    "REPO_VARIABLE",
    "BadArchive",
    "BadCheckout",
    "BadCommitDate",
    "Checkout",
    "DirtyCheckout",
    "GitFailed",
    "NoBase",
    "NoCommit",
    "NoConfigRepo",
    "Snapshot",
    "SnapshotId",
    "SnapshotKind",
    "StaleSnapshot",
    "find_checkout",
    "find_repo",
    "from_directory",
    "from_git",
    "named_repo",
    "open_base",
    "open_snapshot",
    "read_file",
    "require_age",
]
