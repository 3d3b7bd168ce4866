"""The one finding model behind every output format (STYLE H29, USERS ask 21)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256

from toolkit.entities.yaml_location import Pointer


class Severity(StrEnum):
    """Severity of a finding."""

    ERROR = "error"
    """An action would do something wrong, or nothing at all."""
    WARNING = "warning"
    """It works, and most likely not as intended."""
    INFO = "info"
    """Worth knowing; it never fails a run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TextPlace:
    """A place in a file that is no configuration.

    Attributes:
        line: from 1 on.
        column: from 1 on.
        end_column: exclusive.
    """

    line: int
    column: int
    end_column: int


Mention = str | tuple[str, Pointer]
"""The name of an entity, or with it a value in its merged document."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class SourcePlace:
    """A place in a file, as a finding has it.

    Attributes:
        line: 0: the file as a whole, or a file that is not there.
        key: the pointer in words.
    """

    file: str
    line: int = 0
    column: int = 0
    end_column: int = 0
    key: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """Finding of a rule, before its place in a file is known.

    Args:
        subject: the name of the entity, or the path of a file of the repo (``repo.yaml``, ``holds.yaml``, ...).
        pointer: the value in the merged document of the entity, or in the file; empty for the whole of it.
        message: what was found and what was expected.
        hint: what to do.
        on_key: the key is meant rather than its value.
        offset: characters into the value, when that is known.
        severity: other than the rule's own.
        related: what else the finding is about: it can be mended there as well.
        place: in a file that is no configuration, instead of a pointer.
    """

    subject: str
    pointer: Pointer = ()
    message: str
    hint: str = ""
    on_key: bool = False
    offset: int | None = None
    severity: Severity | None = None
    related: tuple[Mention, ...] = ()
    place: TextPlace | None = None


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Finding:
    """A thing that is wrong or worth knowing, and where.

    Args:
        file: path in the config repo, with ``/``.
        line: from 1 on; 0: the file as a whole.
        column: in characters, from 1 on; 0: the file as a whole.
        end_column: exclusive, on the same line; equal to `column` when the extent is not known.
        rule: the rule's identifier.
        severity: how much it matters.
        message: what was found and what was expected.
        hint: what to do; may be empty.
        key: the place in the document in words, ``clusters[primary].retention.limit``; it survives moved lines.
        environments: those in which it shows; empty when none was loaded.
        related: the other places that it is about; it is a finding of these files as well.
    """

    file: str
    line: int
    column: int
    end_column: int
    rule: str
    severity: Severity
    message: str
    hint: str = ""
    key: str = ""
    environments: tuple[str, ...] = ()
    related: tuple[SourcePlace, ...] = field(default=(), compare=False)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it is about, its own first."""
        return tuple(dict.fromkeys((self.file, *(each.file for each in self.related))))

    @property
    def fingerprint(self) -> str:
        """Stays the same when lines move; a baseline knows a finding by it."""
        text = f"{self.rule}\0{self.file}\0{self.key}\0{self.message}"
        return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
