"""The XML and properties files that are to be migrated: named one by one, or all that are in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from toolkit.config_source import read_file
from toolkit.entities import ConfigProblem, Kind
from toolkit.migration.mirror import properties_tree
from toolkit.migration.xml_tree import Element, UnreadableXml, read_xml

_MOST_BYTES = 1 << 20
"""As for a file of the config repo; an entity of Falcon's has a few KiB."""

_XML_KINDS = tuple(each for each in Kind if each is not Kind.MIRROR)
_NAMESPACE = "uri:falcon:{}:0.1"


@dataclass(frozen=True, kw_only=True, slots=True)
class FalconEntity:
    """An entity of Falcon's.

    Attributes:
        file: its path as the user named it, or the folder.
    """

    file: str
    kind: Kind
    root: Element


@dataclass(frozen=True, kw_only=True, slots=True)
class Sources:
    """Entities that were found.

    Attributes:
        left_alone: files of folders that are no entities of Falcon's.
        problems: of files that cannot be read, or are no entities.
    """

    entities: tuple[FalconEntity, ...]
    left_alone: tuple[str, ...]
    problems: tuple[ConfigProblem, ...] = ()


def read_sources(paths: Iterable[Path]) -> Sources:
    """Read files and folders.

    Args:
        paths: a file is an entity; a folder is searched, and what is no entity there is left alone.
    """
    entities: dict[str, FalconEntity] = {}
    left_alone: list[str] = []
    problems: list[ConfigProblem] = []
    for path, is_named in _files(paths, problems):
        try:
            source = _source(path, is_named=is_named)
        except UnreadableXml as error:
            problems.append(error.problem)
        else:
            if source is None:
                left_alone.append(str(path))
            else:
                entities[os.path.realpath(path)] = source
    if not entities and not problems:
        message = "found no entity of Falcon's, expected files with a cluster, feed, process or datasource"
        problems.append(ConfigProblem(file=" ".join(map(str, paths)), rule="no-entity", message=message))
    return Sources(
        entities=tuple(entities.values()), left_alone=tuple(dict.fromkeys(left_alone)), problems=tuple(problems)
    )


def _files(paths: Iterable[Path], problems: list[ConfigProblem]) -> Iterator[tuple[Path, bool]]:
    """Files, and whether they are named; what git and editors hide in folders is nothing that anybody asks for."""

    def unreadable(error: OSError) -> None:
        message = f"the folder cannot be read: {error.strerror}"
        problems.append(ConfigProblem(file=str(error.filename), rule="unreadable", message=message))

    for path in paths:
        if not path.is_dir():
            yield path, True
            continue
        for folder, folders, files in os.walk(path, onerror=unreadable):
            folders[:] = sorted(each for each in folders if not each.startswith("."))
            yield from ((Path(folder, each), False) for each in sorted(files) if not each.startswith("."))


def _source(path: Path, *, is_named: bool) -> FalconEntity | None:
    if path.suffix.lower() == ".properties":
        tree = properties_tree(_content(path).decode("utf-8", "replace"))
        return None if tree is None else FalconEntity(file=str(path), kind=Kind.MIRROR, root=tree)
    if not is_named and path.suffix.lower() != ".xml":
        return None
    root = read_xml(_content(path), str(path))
    kind = next((each for each in _XML_KINDS if each == root.tag), None)
    if kind is None and not is_named:
        return None
    if kind is None:
        message = f"found the root {root.tag!r}, expected one of {', '.join(_XML_KINDS)}"
        raise UnreadableXml(ConfigProblem(file=str(path), line=root.line, column=1, rule="no-entity", message=message))
    if root.namespace not in {"", _NAMESPACE.format(kind)}:
        expected = _NAMESPACE.format(kind)
        message = f"found the namespace {root.namespace[:80]!r}, expected {expected}"
        raise UnreadableXml(ConfigProblem(file=str(path), line=root.line, column=1, rule="no-entity", message=message))
    return FalconEntity(file=str(path), kind=kind, root=root)


def _content(path: Path) -> bytes:
    try:
        size = path.lstat().st_size
        if size <= _MOST_BYTES:
            return read_file(path)
        reason = f"it has {size} bytes, more than {_MOST_BYTES}"
    except OSError as error:
        reason = error.strerror or str(error)
    raise UnreadableXml(ConfigProblem(file=str(path), rule="unreadable", message=f"the file cannot be read: {reason}"))
