"""Java programs that are measured beside ours: got by Maven as published, driven by a few lines of our own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

from benchmarks.whole_process import ROOT
from tests.testbed import java
from tests.testbed.jars import Jars, WrongJars
from tests.testbed.missing import Missing

_HERE = Path(__file__).parent
_BUILT = ROOT / "build" / "peers"
_SPARK_JARS = Path(pyspark.__file__).parent / "jars"
_HADOOP = ("hadoop-client-api-*.jar", "hadoop-client-runtime-*.jar", "slf4j-api-*.jar")
_COMPILER = ("-m", "jdk.compiler/com.sun.tools.javac.Main", "-proc:none", "-nowarn")
_LOGS = f"-Dlog4j.configuration=file:{_HERE / 'log4j.properties'}"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "feedctl" / "peers"


class NoPeer(Exception):  # noqa: N818 - named for what was found
    """A program cannot be measured here; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JavaProgram:
    """One of them.

    Args:
        folder: of its source below this one, and of its pom when it needs more than Hadoop's client.
        main: its class.
        first: the jar that has to come first on its class path.
        heap: as Java wants it.
        options: of Java besides.
    """

    folder: str
    main: str
    first: str = ""
    heap: str = "2g"
    options: tuple[str, ...] = ()

    def command(self, *arguments: str) -> list[str]:
        """How it is run, with the classes that it needs; the first time they are got and compiled.

        Raises:
            NoPeer: no Java, no compiler, no Maven, or not the jars that are pinned.
        """
        try:
            class_path = os.pathsep.join(self._class_path())
            classes = self._compiled(class_path)
            found_in = f"{classes}:{_HERE / self.folder}:{class_path}"
            java_options = [f"-Xmx{self.heap}", *self.options, _LOGS, "-cp", found_in]
            return [_java(), *java_options, self.main, *arguments]
        except (Missing, WrongJars) as why:
            raise NoPeer(str(why)) from why

    @property
    def jars(self) -> Jars | None:
        """What its pom names."""
        pom = _HERE / self.folder / "pom.xml"
        return Jars(pom=pom, sums=pom.with_name("jars.sha256"), cache=_CACHE) if pom.exists() else None

    def _class_path(self) -> Sequence[str]:
        """Jar by jar; what the program brings itself stands before what Spark has."""
        hadoop = [str(jar) for pattern in _HADOOP for jar in _SPARK_JARS.glob(pattern)]
        jars = self.jars
        if jars is None:
            return hadoop
        own = sorted(jars.fetched().glob("*.jar"), key=lambda jar: (jar.name != self.first, jar.name))
        return [*map(str, own), *hadoop]

    def _compiled(self, class_path: str) -> Path:
        source, classes = _HERE / self.folder / f"{self.main}.java", _BUILT / self.folder
        made = classes / f"{self.main}.class"
        if made.exists() and made.stat().st_mtime > source.stat().st_mtime:
            return classes
        command = [_java(), *_COMPILER, "-d", str(classes), "-cp", class_path, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            message = f"{source.name} was not compiled (a JDK has the compiler, a JRE has not): {done.stderr}"
            raise NoPeer(message)
        return classes


def _java() -> str:
    return str(java.java_home() / "bin" / "java")
