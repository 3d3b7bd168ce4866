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

_FILES = ("core-site.xml", "hdfs-site.xml")


class UnreadableHadoopConf(InvalidInput):
    """A file of HADOOP_CONF_DIR is no Hadoop configuration.

    Args:
        file: the file.
        found: what is wrong with it.
    """

    def __init__(self, *, file: Path, found: str) -> None:
        self.file, self.found = file, found
        super().__init__(f"{file}: no Hadoop configuration ({found}); correct it, or unset HADOOP_CONF_DIR")


def hadoop_settings(spec: StorageSpec, environment: Mapping[str, str] = os.environ) -> Mapping[str, str]:
    """All settings of the store, by their Hadoop names.

    Args:
        spec: which store; its own settings win.
        environment: says where HADOOP_CONF_DIR is; none is fine.

    Raises:
        UnreadableHadoopConf: a file there can't be read.
    """
    directory = environment.get("HADOOP_CONF_DIR", "")
    files = [Path(directory, name) for name in _FILES] if directory else []
    return {**_of_files(files), **spec.hadoop_conf}


def _of_files(files: Iterable[Path]) -> dict[str, str]:
    settings: dict[str, str] = {}
    for file in files:
        if file.is_file():
            settings.update(_of_file(file))
    return settings


def _of_file(file: Path) -> dict[str, str]:
    try:
        root = ET.fromstring(file.read_bytes())  # noqa: S314 - the operator's own file
    except (OSError, ET.ParseError) as error:
        raise UnreadableHadoopConf(file=file, found=str(error)) from error
    named = ((prop.findtext("name"), prop.findtext("value")) for prop in root.iter("property"))
    return {name.strip(): (value or "").strip() for name, value in named if name}
