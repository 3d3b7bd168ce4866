"""Checks the length of sentences in the tutorials and how-to guides, and that of all pages.

A sentence has at most 30 words; code and tables are not counted. A page has at most 300 lines, except for the generated
reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
MOST_WORDS, MOST_LINES = 30, 300
SHORT = ("tutorials", "how-to")
"""Folders whose sentences are checked."""
GENERATED = "reference"
_FENCE = re.compile(r"\s*```+")
_APART = re.compile(r"\s*(?:[-*+] |\d+[.)] |#|\||!!!|\?\?\?|<!--|===)")
"""Lines that begin a paragraph of their own: items, headings, rows, notes, comments, tabs."""
_LEFT_OUT = re.compile(r"\s*(?:\||<!--)")
_CODE = re.compile(r"`[^`]*`")
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_WORD = re.compile(r"[^\W_]")
_END = re.compile(r"(?<=[.!?])[\"')*_]*\s+")


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line's number and the text of each paragraph, without blocks of code and tables."""
    found: list[str] = []
    first, fenced = 0, False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        fence = bool(_FENCE.match(line))
        if found and (fence or not line.strip() or _APART.match(line) or found[0].startswith("#")):
            yield first, " ".join(found)
            found = []
        fenced ^= fence
        if fence or fenced or not line.strip() or _LEFT_OUT.match(line):
            continue
        first = first if found else number
        found.append(line.strip())


def long_sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the line, the number of words and the beginning of each sentence that is too long."""
    for line, paragraph in paragraphs(text):
        for sentence in _END.split(_CODE.sub("", _LINK.sub(r"\1", paragraph))):
            words = sum(bool(_WORD.search(word)) for word in sentence.split())
            if words > MOST_WORDS:
                yield line, words, sentence[:60]


def findings() -> Iterator[str]:
    """Yield a line for each sentence and each page that is too long."""
    for page in sorted(DOCS.rglob("*.md")):
        folder, text = page.relative_to(DOCS).parts[0], page.read_text(encoding="utf-8")
        name = page.relative_to(ROOT)
        if folder in SHORT:
            for line, words, start in long_sentences(text):
                yield f"{name}:{line}: a sentence of {words} words; at most {MOST_WORDS}: {start} ..."
        if folder != GENERATED and (lines := len(text.splitlines())) > MOST_LINES:
            yield f"{name}: {lines} lines; at most {MOST_LINES}: divide the page"


if __name__ == "__main__":
    found = list(findings())
    if found:
        print("\n".join(found))  # noqa: T201
    raise SystemExit(1 if found else 0)
