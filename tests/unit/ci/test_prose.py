"""`.ci/prose.py` counts the words of sentences, and of nothing else."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest

_FOUND = runpy.run_path(str(Path(__file__).parents[3] / ".ci" / "prose.py"))
long_sentences = cast("Callable[[str], Iterator[tuple[int, int, str]]]", _FOUND["long_sentences"])
WORDS = "word " * 20


@pytest.mark.parametrize(
    "text",
    [
        f"{WORDS}. {WORDS}.",
        f"- {WORDS}\n- {WORDS}\n",
        f"# {WORDS}\n{WORDS}\n",
        f"| {WORDS} | {WORDS} |\n",
        f"```console\n$ {WORDS}\n{WORDS}\n```\n",
        f"    ```yaml\n    {WORDS}\n    {WORDS}\n    ```\n",
        f"{WORDS} `{WORDS} {WORDS}`",
        f"{WORDS} [{WORDS[:25]}](a/b/c.md)",
        f"{WORDS}\n\n{WORDS}",
    ],
)
def test_sentences_of_up_to_thirty_words_pass_and_code_and_tables_are_not_counted(text: str) -> None:
    assert list(long_sentences(text)) == []


@pytest.mark.parametrize("text", [f"{WORDS}\n{WORDS}", f"- {WORDS}\n  {WORDS}", f"```\n```\n{WORDS}, `code` {WORDS}."])
def test_a_longer_sentence_is_found_over_the_ends_of_lines(text: str) -> None:
    ((_, words, _),) = long_sentences(text)
    assert words == 40
