"""Which store to open, as a small value that travels to executors (DESIGN section 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class StorageSpec:
    """Which store to open, and how; without secrets, which every machine finds in its own environment.

    Attributes:
        scheme: as in a `CanonicalPath`: ``file``, ``hdfs``, ``webhdfs``, ``swebhdfs``, ``s3``, ``gs``, ``abfs``.
        authority: name service, host and port, or bucket; empty for ``file``.
        hadoop_conf: settings by their Hadoop names (``dfs.nameservices``, ``fs.s3a.endpoint`` ...), of the cluster
            entity; they stand above those of the files in HADOOP_CONF_DIR.
        user: acts under this name where the store believes what it is told (simple authentication); empty: the one
            of HADOOP_USER_NAME, else that of the process.
    """

    scheme: str
    authority: str = ""
    hadoop_conf: Mapping[str, str] = field(default_factory=dict, hash=False)
    user: str = ""
