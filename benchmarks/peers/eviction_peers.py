"""Java programs that evict: the peers as published, and loops over Hadoop's own client. `-m` writes their sums anew."""

from __future__ import annotations

from benchmarks.peers.java_program import JavaProgram
from tests.testbed.pinning import pin

FALCON = JavaProgram(folder="eviction/falcon", main="FalconEviction")
GOBBLIN = JavaProgram(folder="eviction/gobblin", main="GobblinEviction", first="guava-15.0.jar")
"""With another guava it never ends."""
DELETE_PATHS = JavaProgram(folder="eviction/hadoop", main="DeletePaths")


def main() -> None:
    """Write the sums of what Maven brings now; look at the difference before you commit it."""
    for program in (FALCON, GOBBLIN):
        jars = program.jars
        assert jars is not None
        pin(jars)


if __name__ == "__main__":
    main()
