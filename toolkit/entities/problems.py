"""Problems of a config repo: many problems of many files, reported together (STYLE H22)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from toolkit.errors import InvalidInput
from toolkit.printable import on_one_line


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class ConfigProblem:
    """A thing that is wrong, where it is, and what to do about it.

    Attributes:
        file: path in the config repo, with `/`.
        line: from 1 on; 0 when the problem has no line.
        column: in characters, from 1 on; 0 when the problem has no line.
        rule: a stable identifier, for example ``unknown-key``.
        message: what was found and what was expected.
        hint: what to do; may be empty.
        other_file: one that it is about as well; empty: none.
    """

    file: str
    line: int = 0
    column: int = 0
    rule: str
    message: str
    hint: str = ""
    other_file: str = ""

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.rule}: {self.message}" + (f"; {self.hint}" if self.hint else "")


class FoundProblems(InvalidInput):
    """Error that reports all problems of an input.

    Args:
        problems: all that was found, in all files.
    """

    title: ClassVar[str]
    """Stands before their number."""

    def __init__(self, *, problems: Iterable[ConfigProblem]) -> None:
        self.problems = tuple(sorted(set(problems)))
        count = len(self.problems)
        number = "1 problem" if count == 1 else f"{count} problems"
        lines = [on_one_line(str(each)) for each in self.problems[:_SHOWN]]
        rest = [f"... and {count - _SHOWN} more"] if count > _SHOWN else []
        super().__init__("\n".join([f"{self.title} {number}:", *lines, *rest]))


class ConfigError(FoundProblems):
    """The config repo cannot be used as it is."""

    title = "the config repo has"


_SHOWN = 100
