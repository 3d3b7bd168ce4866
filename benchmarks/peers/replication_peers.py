"""Java programs that copy: Hadoop's DistCp as published. `-m` writes the sums of its jars anew."""

from __future__ import annotations

from benchmarks.peers.java_program import JavaProgram
from tests.testbed.pinning import pin

DISTCP = JavaProgram(folder="replication/distcp", main="RunDistCp")


def main() -> None:
    """Write the sums of what Maven brings now; look at the difference before you commit it."""
    jars = DISTCP.jars
    assert jars is not None
    pin(jars)


if __name__ == "__main__":
    main()
