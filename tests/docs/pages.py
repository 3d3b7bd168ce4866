"""Commands, files and needs of a page of documentation."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

NEEDS = frozenset({"spark", "postgresql", "hdfs", "metastore", "s3"})
"""Servers and programs that a page may need; `places.py` starts them."""

_FENCE = re.compile(r"(?P<indent> *)(?P<ticks>```+)(?P<info>.*)")
_COMMENT = re.compile(r"\s*<!-- *(?P<word>needs|not run|exit): *(?P<text>.+?) *-->\s*")
_TITLE = re.compile(r'title="(?P<title>[^"]+)"')
_SHELLS = frozenset({"sh", "bash", "shell", "zsh", "shell-session", "terminal"})
_PROMPT, _CONTINUED = "$ ", "> "


class BadPage(Exception):  # noqa: N818 - named for what was found
    """A page breaks a rule of documented commands; the message begins with its place."""

    def __init__(self, *, path: Path, line: int, why: str) -> None:
        super().__init__(f"{path}:{line}: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A command, and the output that the page shows below it.

    Args:
        lines: of the command, without prompts.
        output: lines that the page shows.
        first, last: the range of `output` in the lines of the page, the last one not included.
        indent: blanks before each line of the page.
        exit: expected exit code.
    """

    lines: Sequence[str]
    output: Sequence[str]
    first: int
    last: int
    indent: str
    exit: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class File:
    """A block with a title: a file that the reader writes, relative to the directory that the shell is in."""

    title: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """A fenced block: its info string, its lines without the indent, and its place."""

    info: str
    lines: Sequence[str]
    first: int
    indent: str
    comment: tuple[str, str] | None

    @property
    def language(self) -> str:
        """Return the first word of the info string."""
        return self.info.split(maxsplit=1)[0] if self.info.strip() else ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """A page and what running it takes.

    Args:
        needs: of `NEEDS`.
        reason: why nothing of the page is run, None where it is.
        skipped: reasons of single blocks that are not run.
        steps: commands and files, in order.
    """

    path: Path
    needs: frozenset[str]
    reason: str | None
    skipped: Sequence[str]
    steps: Sequence[Command | File]


def read_page(path: Path) -> Page:
    """Return the page.

    Raises:
        BadPage: it names an unknown need, has a block for a shell that no test would run, or a broken block.
    """
    lines = path.read_text(encoding="utf-8").splitlines()
    needs, reason = _head(path, lines)
    skipped: list[str] = []
    steps: list[Command | File] = []
    for block in blocks(path, lines):
        word, text = block.comment or ("", "")
        if word == "not run":
            skipped.append(text)
        elif block.language == "console":
            steps += _commands(path, block, int(text) if word == "exit" else 0)
        elif title := _TITLE.search(block.info):
            steps.append(File(title=title["title"], text="".join(f"{line}\n" for line in block.lines)))
        elif block.language in _SHELLS and reason is None:
            why = "a block of commands is ```console with prompts, or has <!-- not run: REASON --> above it"
            raise BadPage(path=path, line=block.first, why=why)
    return Page(path=path, needs=needs, reason=reason, skipped=skipped, steps=steps)


def _head(path: Path, lines: Sequence[str]) -> tuple[frozenset[str], str | None]:
    """Return the needs and the reason not to run that the comments above the page's first other line give."""
    needs: frozenset[str] = frozenset()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        match = _COMMENT.fullmatch(line)
        if not match or match["word"] == "exit":
            break
        if match["word"] == "not run":
            return needs, match["text"]
        needs |= frozenset(re.split(r"[\s,]+", match["text"]))
        if unknown := needs - NEEDS:
            raise BadPage(path=path, line=number, why=f"unknown need {sorted(unknown)}; known: {sorted(NEEDS)}")
    return needs, None


def blocks(path: Path, lines: Sequence[str]) -> Iterator[Block]:
    """Yield the fenced blocks of a page."""
    number = 0
    while number < len(lines):
        fence = _FENCE.fullmatch(lines[number])
        number += 1
        if not fence:
            continue
        first, indent, end = number, fence["indent"], fence["indent"] + fence["ticks"]
        while number < len(lines) and lines[number].rstrip() != end:
            number += 1
        if number == len(lines):
            raise BadPage(path=path, line=first, why="this block has no end")
        body = [line.removeprefix(indent) for line in lines[first:number]]
        comment = _COMMENT.fullmatch(lines[first - 2]) if first > 1 else None
        words = (comment["word"], comment["text"]) if comment else None
        yield Block(info=fence["info"].strip(), lines=body, first=first + 1, indent=indent, comment=words)
        number += 1


def _commands(path: Path, block: Block, code: int) -> Iterator[Command]:
    """Yield the commands of a block; the exit code is that of the last one."""
    if not block.lines or not block.lines[0].startswith(_PROMPT):
        raise BadPage(path=path, line=block.first, why="a console block begins with a command: `$ COMMAND`")
    starts = [number for number, line in enumerate(block.lines) if line.startswith(_PROMPT)]
    for start, end in zip(starts, [*starts[1:], len(block.lines)], strict=True):
        after = start + 1
        while after < end and block.lines[after].startswith(_CONTINUED):
            after += 1
        prompts = [_PROMPT, *[_CONTINUED] * (after - start - 1)]
        yield Command(
            lines=[line.removeprefix(prompt) for line, prompt in zip(block.lines[start:after], prompts, strict=True)],
            output=block.lines[after:end],
            first=block.first - 1 + after,
            last=block.first - 1 + end,
            indent=block.indent,
            exit=code if end == len(block.lines) else 0,
        )
