"""What a test bed needs and this machine has not."""

from __future__ import annotations

from pathlib import Path

WITHOUT = "FEEDCTL_TESTBED_WITHOUT"
"""The variable that names, with blanks between them, the servers that a run does without."""


class Missing(Exception):  # noqa: N818 - named for what was found
    """This machine lacks a program that the test bed needs; the message says which and how to get it."""


class LeftOut(Missing):
    """A server that this run does without: its tests are skipped, in CI too."""

    def __init__(self, *, server: str) -> None:
        super().__init__(f"the test bed has no {server}: {WITHOUT} names it")


class NoMaven(Missing):
    """No Maven to get the jars that are not there yet; `directory` is where they would be."""

    def __init__(self, *, directory: Path) -> None:
        self.directory = directory
        super().__init__(
            f"feedctl: no jars in {directory} and no Maven (mvn) on PATH to get them; install it (Debian: "
            "apt-get install maven)."
        )
