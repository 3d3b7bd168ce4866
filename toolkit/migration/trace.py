"""Mapping between the lines of the XML and those of the YAML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from toolkit.entities import ConfigProblem, Document, Kind, Pointer
from toolkit.entities.pointers import path_text
from toolkit.entities.source_files import DEFAULTS_NAME, SUFFIX
from toolkit.entities.yaml_location import locate
from toolkit.migration.draft import Draft
from toolkit.migration.xml_tree import Fact


@dataclass(frozen=True, kw_only=True, slots=True)
class OutputPlace:
    """A place in the files that are written.

    Attributes:
        line: from 1 on; 0: the file as a whole.
        key: in words, for example ``clusters[primary].validity.start``.
    """

    file: str
    line: int
    key: str


@dataclass(frozen=True, kw_only=True)
class Tracing:
    """Drafts, and the files that were made of them.

    Attributes:
        lifted: what `defaults.yaml` says of each kind.
    """

    drafts: Sequence[Draft]
    files: Mapping[str, bytes] = field(repr=False)
    lifted: Mapping[Kind, Document]
    _known: dict[str, dict[int, tuple[Draft, Fact]]] = field(default_factory=dict, repr=False)

    def place(self, draft: Draft, pointer: Pointer) -> OutputPlace:
        """Return the place of an entity's value in the new files, or of the nearest value around it."""
        own = f"{draft.kind.folder}/{draft.name}{SUFFIX}"
        key = path_text(draft.document, pointer)
        for length in range(len(pointer), 0, -1):
            for file, inner in ((own, pointer[:length]), (DEFAULTS_NAME, (str(draft.kind), *pointer[:length]))):
                if file == DEFAULTS_NAME and pointer[0] not in self.lifted[draft.kind]:
                    continue
                located = locate(self.files[file], inner)
                if located is not None:
                    return OutputPlace(file=file, line=located.key.line, key=key)
        return OutputPlace(file=own, line=0, key=key)

    def in_xml(self, problems: Iterable[ConfigProblem]) -> Iterator[ConfigProblem]:
        """Problems of the YAML as problems of the XML that it comes from; those of other files stay as they are."""
        for each in problems:
            source = self.source(each.file, each.line)
            if source is None:
                yield each
                continue
            draft, fact = source
            where = f"{each.file}:{each.line}" if each.line else each.file
            yield replace(
                each, file=draft.file, line=fact.line, column=1, message=f"{each.message} (it would be {where})"
            )

    def source(self, file: str, line: int) -> tuple[Draft, Fact] | None:
        """Return the text of the XML that a line comes from: the text itself, the first one in it, or the entity."""
        drafts = self._by_file.get(file)
        if drafts is None:
            return None
        lines = self._sources(file, drafts)
        within = min((each for each in lines if each >= line), default=None)
        if within is None or not line:
            return drafts[0], drafts[0].root
        return lines[within]

    @cached_property
    def _by_file(self) -> dict[str, list[Draft]]:
        """The entities whose values are in a file."""
        found = {f"{each.kind.folder}/{each.name}{SUFFIX}": [each] for each in self.drafts}
        lifted = [each for each in self.drafts if self.lifted[each.kind]]
        return {**found, **({DEFAULTS_NAME: lifted} if lifted else {})}

    def _sources(self, file: str, drafts: Sequence[Draft]) -> dict[int, tuple[Draft, Fact]]:
        """Return the sources of a file's lines; kept, since most findings are about few files."""
        if file not in self._known:
            lines: dict[int, tuple[Draft, Fact]] = {}
            for draft in drafts:
                for trace in draft.traces:
                    if trace.source is None or trace.pointer is None:
                        continue
                    place = self.place(draft, trace.pointer)
                    if place.file == file:
                        lines.setdefault(place.line, (draft, trace.source))
            self._known[file] = lines
        return self._known[file]
