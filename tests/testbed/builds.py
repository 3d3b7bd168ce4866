"""The servers that stand in for clouds: built once of pinned sources, kept outside the tree.

`python -m tests.testbed.builds NAME` builds one, or says why it cannot.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.testbed.jars import default_cache, one_at_a_time
from tests.testbed.missing import Missing

_HERE = Path(__file__).resolve().parent
_FIND = _HERE.parents[1] / ".ci" / "toolchain"
_FIND_SECONDS = 60
_SECONDS = 900
_DIGEST_CHARACTERS = 16
_MOST_CHARACTERS = 4000


class BuildFailed(Exception):  # noqa: N818 - named for what happened
    """A server could not be built; `output` is what the tool wrote."""

    def __init__(self, *, name: str, output: str) -> None:
        self.name, self.output = name, output
        super().__init__(f"{name} could not be built; its tool said:\n{output}")


@cache
def tool(name: str) -> Path:
    """Return the path of `go` or `node`.

    Raises:
        Missing: there is none that is new enough.
    """
    found = subprocess.run([_FIND, name], capture_output=True, text=True, check=False, timeout=_FIND_SECONDS)
    if found.returncode:
        raise Missing(found.stderr.strip())
    return Path(found.stdout.strip())


@dataclass(frozen=True, kw_only=True, slots=True)
class Build:
    """One server.

    Args:
        name: of its directory here, and in the cache.
        files: what it needs, with sums of all that is downloaded; a change of one builds it anew.
        tool: what builds it, see `.ci/toolchain`.
        arguments: what is run in a copy of the files, which then is kept; the first is a program beside the tool.
        cache: each version of the files has a directory in it.
    """

    name: str
    files: Sequence[str]
    tool: str
    arguments: Sequence[str]
    cache: Path = field(default_factory=default_cache)

    @property
    def directory(self) -> Path:
        """Folder of the build; it exists only when it is complete."""
        content = b"".join((_HERE / self.name / file).read_bytes() for file in self.files)
        return self.cache / f"{self.name}-{hashlib.sha256(content).hexdigest()[:_DIGEST_CHARACTERS]}"

    def check_available(self) -> None:
        """Find out, without building anything, whether `built` can work.

        Raises:
            Missing: it is not there yet, and there is nothing to build it with; or nothing to run it with.
        """
        if self.tool == "node" or not self.directory.is_dir():
            tool(self.tool)

    def built(self) -> Path:
        """Return its directory; it is built when it is not there yet.

        Raises:
            Missing: there is nothing to build it with.
            BuildFailed: it could not be built.
        """
        self.check_available()
        self.cache.mkdir(parents=True, exist_ok=True)
        with one_at_a_time(self.cache / f"{self.name}.lock"):
            if not self.directory.is_dir():
                self._build()
        return self.directory

    def _build(self) -> None:
        with tempfile.TemporaryDirectory(dir=self.cache, prefix="new-") as new:
            place = Path(new, self.name)
            place.mkdir()
            for file in self.files:
                shutil.copy(_HERE / self.name / file, place)
            beside = tool(self.tool).parent
            done = subprocess.run(
                [beside / self.arguments[0], *self.arguments[1:]],
                cwd=place,
                # Where the packages come from is the affair of the tool's own settings.
                env={**os.environ, "PATH": f"{beside}:{os.environ.get('PATH', os.defpath)}"},
                capture_output=True,
                text=True,
                check=False,
                timeout=_SECONDS,
            )
            if done.returncode:
                raise BuildFailed(name=self.name, output=f"{done.stdout}{done.stderr}"[-_MOST_CHARACTERS:])
            place.rename(self.directory)


GCS = Build(
    name="gcs",
    files=("go.mod", "go.sum"),
    tool="go",
    arguments=(
        *("go", "build", "-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", "fake-gcs-server"),
        "github.com/fsouza/fake-gcs-server",
    ),
)
"""Google Cloud Storage: about 2 minutes of a processor, once."""
AZURITE = Build(
    name="azurite",
    files=("package.json", "package-lock.json"),
    tool="node",
    arguments=("npm", "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund", "--loglevel=error"),
)
"""Azure Blob Storage, Microsoft's own; only downloaded."""
BUILDS: Mapping[str, Build] = {"gcs": GCS, "azure": AZURITE}
"""By the name of their server."""


if __name__ == "__main__":
    try:
        BUILDS[sys.argv[1]].built()
    except (BuildFailed, Missing, subprocess.SubprocessError) as failure:
        sys.exit(f"feedctl: {failure}")
