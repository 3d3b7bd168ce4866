"""Every command of the tutorials and how-to guides runs, in order, and writes what the page shows.

How to write a page (`docs/tutorials`, `docs/how-to`):

- Commands are ```` ```console ```` blocks. A command begins with `$ `, its further lines with `> `; all below it is its
  output. One bash runs the page, in a fresh directory that is HOME too and that the page calls `/home/engineer`;
  directory and variables stay from one command to the next.
- A block with `title="feeds/x.yaml"` is written to that file, where the shell is at that moment.
- `<!-- needs: spark, postgresql -->` at the top of the page (or `hdfs`, `metastore`, `s3`) starts the servers; the page
  names them as `places.py` does.
- `<!-- not run: REASON -->` at the top leaves the page out, directly above a block the block; pytest shows the reasons.
- `<!-- exit: 1 -->` directly above a block is the exit code of its last command; any other must end with 0.
- A line `...` stands for any lines. Times, ids, durations and Spark's own log lines: see `masks.py`.
- `FEEDCTL_WRITE_DOCS=1 .venv/bin/pytest tests/docs -k PAGE` writes the real output into the page wherever it differs.
"""

from __future__ import annotations

import difflib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.docs.masks import masked
from tests.docs.pages import Command, Page, read_page
from tests.docs.places import stand_ins, variables
from tests.docs.shell import Answer, Shell, rewritten
from tests.e2e.commands import BIN, ROOT

DOCS = ROOT / "docs"
PAGES = sorted(path for folder in ("tutorials", "how-to") for path in (DOCS / folder).glob("**/*.md"))
_WRITE = "FEEDCTL_WRITE_DOCS"

pytestmark = [pytest.mark.slow, pytest.mark.extended, pytest.mark.timeout(600)]


def cases() -> Iterator[object]:
    """Yield a case for each page that has commands."""
    for path in PAGES:
        page = read_page(path)
        if page.reason or page.skipped or any(isinstance(step, Command) for step in page.steps):
            yield pytest.param(page, id=path.relative_to(DOCS).with_suffix("").as_posix())


@pytest.fixture
def home() -> Iterator[Path]:
    """A fresh directory with as many characters as its name in the pages, so that tables are as wide."""
    directory = Path(tempfile.mkdtemp(prefix="f", dir="/tmp"))
    yield directory
    for path in (directory, directory.with_suffix(".sh"), directory.with_suffix(".txt")):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


@pytest.mark.parametrize("page", list(cases()))
def test_the_commands_of_a_page_write_what_it_shows(page: Page, home: Path, request: pytest.FixtureRequest) -> None:
    if page.reason:
        pytest.skip(f"not run: {page.reason}")
    shell = Shell(
        home=home,
        programs=BIN,
        stand_ins={name: value for need in sorted(page.needs) for name, value in stand_ins(need, request).items()},
        environment={name: value for need in page.needs for name, value in variables(need, request).items()},
    )
    answers = shell.run(page)
    if os.environ.get(_WRITE):
        page.path.write_text(rewritten(page.path.read_text(encoding="utf-8"), answers), encoding="utf-8")
        answers = [answer for answer in answers if answer.code != answer.command.exit]
    report = "\n\n".join(difference(page, answer) for answer in answers if answer.differs)
    assert not report, f"{report}\n\n{_WRITE}=1 writes the real output into the page"


@pytest.mark.parametrize(
    "reason", [pytest.param(each, id=path.stem) for path in PAGES for each in read_page(path).skipped]
)
def test_a_block_that_is_not_run_says_why(reason: str) -> None:
    pytest.skip(f"not run: {reason}")


def difference(page: Page, answer: Answer) -> str:
    """Return where the page differs from the real output, and how."""
    command, real = answer.command, answer.output
    head = f"{page.path}:{command.first}: $ {command.lines[0]}"
    if answer.code is None:
        return f"{head}\nended the shell, or was not reached:\n" + "\n".join(real)
    lines = difflib.unified_diff(as_compared(command.output), as_compared(real), "page", "real", lineterm="", n=100)
    return "\n".join([f"{head}\nexit code {answer.code}, the page says {command.exit}", *lines])


def as_compared(lines: Sequence[str]) -> list[str]:
    """Return masked lines."""
    return [masked(line) for line in lines]
