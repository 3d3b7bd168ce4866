"""Hadoop's settings: those of the cluster entity above those of the files in HADOOP_CONF_DIR (DESIGN section 5)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from toolkit.errors import InvalidInput

if TYPE_CHECKING:
    from toolkit.storage.spec import StorageSpec

CONF_VARIABLE = "HADOOP_CONF_DIR"
"""Environment variable that names the directory of Hadoop's own files."""
CONF_FILES = ("core-site.xml", "hdfs-site.xml")
"""Those that are read; the later one counts."""


class NoHadoopConfDir(InvalidInput):
    """HADOOP_CONF_DIR names no directory that can be looked into: whoever set it counts on what is there.

    Args:
        value: of the variable.
        found: what is wrong with it.
    """

    def __init__(self, *, value: str, found: str) -> None:
        self.value, self.found = value, found
        super().__init__(
            f"{CONF_VARIABLE}={value}: {found}, expected a directory with {' and '.join(CONF_FILES)}; "
            f"correct {CONF_VARIABLE}, or unset it"
        )


class UnreadableHadoopConf(InvalidInput):
    """A file of HADOOP_CONF_DIR is no Hadoop configuration.

    Args:
        file: the file.
        found: what is wrong with it.
    """

    def __init__(self, *, file: Path, found: str) -> None:
        self.file, self.found = file, found
        super().__init__(f"{file}: no Hadoop configuration ({found}); correct it, or unset HADOOP_CONF_DIR")


def conf_dir(environment: Mapping[str, str] = os.environ) -> Path | None:
    """The directory of Hadoop's own files, HADOOP_CONF_DIR or `etc/hadoop` in HADOOP_HOME; None: there is none.

    The library of `hdfs:` reads the second one as well, so what is decided here must know it.

    Raises:
        NoHadoopConfDir: what it names is none, or may not be looked into.
    """
    value = environment.get(CONF_VARIABLE, "")
    if not value:
        return _of_home(environment)
    if not os.access(value, os.F_OK) or not Path(value).is_dir():
        raise NoHadoopConfDir(value=value, found="found no directory there")
    if not os.access(value, os.X_OK):
        raise NoHadoopConfDir(value=value, found="found a directory that this user may not look into")
    return Path(value)


def hadoop_settings(spec: StorageSpec, environment: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """All settings of the store, by their Hadoop names.

    Args:
        spec: which store; its own settings win.
        environment: says where HADOOP_CONF_DIR is; none is fine, and so are files that are missing in it.

    Raises:
        NoHadoopConfDir: it names no directory.
        UnreadableHadoopConf: a file there can't be read.
    """
    return {**operator_settings(environment), **spec.hadoop_conf}


def operator_settings(environment: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """Only what the files say: they are the operator's, while `hadoop_conf` is whoever's may change the config repo.

    Raises:
        NoHadoopConfDir: HADOOP_CONF_DIR names no directory.
        UnreadableHadoopConf: a file there can't be read.
    """
    directory = conf_dir(environment)
    return _of_files([] if directory is None else [directory / name for name in CONF_FILES])


def asks_for_kerberos(settings: Mapping[str, str]) -> bool:
    """Whether a cluster believes nobody's name alone; a value that is not known may mean so."""
    return settings.get("hadoop.security.authentication", "").strip().lower() not in {"", "simple"}


def settings_read(environment: Mapping[str, str] = os.environ) -> str:
    """Where `hadoop_settings` looked, in words."""
    value = environment.get(CONF_VARIABLE, "")
    own = "hadoop_conf of the cluster"
    return f"{CONF_VARIABLE}={value} and {own}" if value else f"{own} ({CONF_VARIABLE} is not set)"


def _of_home(environment: Mapping[str, str]) -> Path | None:
    home = environment.get("HADOOP_HOME", "")
    directory = Path(home, "etc", "hadoop")
    return directory if home and directory.is_dir() else None


def _of_files(files: Iterable[Path]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for file in files:
        settings.update(_of_file(file))
    return settings


def _of_file(file: Path) -> dict[str, str]:
    try:
        root = ET.fromstring(file.read_bytes())  # noqa: S314 - the operator's own file
    except FileNotFoundError:
        return {}
    except (OSError, ET.ParseError) as error:
        raise UnreadableHadoopConf(file=file, found=str(error)) from error
    named = ((prop.findtext("name"), prop.findtext("value")) for prop in root.iter("property"))
    return {name.strip(): (value or "").strip() for name, value in named if name}
