"""The check of documented commands on small pages."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.masks import is_same
from tests.docs.pages import BadPage, File, read_page
from tests.docs.shell import Answer, Shell, rewritten
from tests.liveness import is_alive
from tests.testbed.waiting import becomes_true

PAGE = """\
<!-- needs: spark, postgresql -->
# A page

```yaml title="feeds/clicks.yaml"
place: /home/engineer/data
```

1. In a list:

    ```console
    $ cat feeds/clicks.yaml; pwd
    place: /home/engineer/data
    /home/engineer
    $ mkdir -p deep && cd deep
    $ A=$(printf '%s' \\
    >     "two lines")
    ```

<!-- exit: 3 -->
```console
$ echo "$A in $(basename "$PWD")"; (exit 3)
old
...
lines
```

```console
$ echo $?
3
$ echo db.example.com
db.example.com
```

<!-- not run: takes an hour -->
```console
$ sleep 3600
```
"""


def page_file(directory: Path, text: str) -> Path:
    """Return a new page."""
    path = directory / "page.md"
    path.write_text(text)
    return path


def answers_of(directory: Path, text: str) -> list[Answer]:
    """Return what the commands of the page answer."""
    home = directory / "home"
    home.mkdir()
    shell = Shell(home=home, programs=Path("/usr/bin"), stand_ins={"db.example.com": "127.0.0.1"})
    return shell.run(read_page(page_file(directory, text)))


def test_a_page_has_needs_files_commands_and_reasons(tmp_path: Path) -> None:
    page = read_page(page_file(tmp_path, PAGE))
    assert page.needs == {"spark", "postgresql"}
    assert page.steps[0] == File(title="feeds/clicks.yaml", text="place: /home/engineer/data\n")
    assert (page.reason, page.skipped, len(page.steps)) == (None, ["takes an hour"], 7)


def test_one_shell_runs_the_page_and_only_a_wrong_output_differs(tmp_path: Path) -> None:
    answers = answers_of(tmp_path, PAGE)
    assert [answer.code for answer in answers] == [0, 0, 0, 3, 0, 0]
    assert [answer.differs for answer in answers] == [False, False, False, True, False, False]
    assert answers[3].output == ["two lines in deep"]


def test_writing_replaces_exactly_the_output_that_differs(tmp_path: Path) -> None:
    written = rewritten(PAGE, answers_of(tmp_path, PAGE))
    assert written == PAGE.replace("old\n...\nlines\n", "two lines in deep\n")


def test_a_command_that_ends_the_shell_differs_and_so_do_those_after_it(tmp_path: Path) -> None:
    answers = answers_of(tmp_path, "```console\n$ true\n$ exit 0\n$ true\n```\n")
    assert [answer.code for answer in answers] == [0, None, None]


def test_what_a_page_leaves_running_is_ended(tmp_path: Path) -> None:
    (answer,) = answers_of(tmp_path, "```console\n$ sleep 60 & echo $!\n1\n```\n")
    assert becomes_true(lambda: not is_alive(int(answer.output[0])), seconds=10)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<!-- needs: oracle -->\n", "unknown need"),
        ("```bash\nls\n```\n", "```console"),
        ("```console\nls\n```\n", "begins with a command"),
        ("# Title\n```console\n$ ls\n", "no end"),
    ],
)
def test_a_page_that_breaks_a_rule_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(BadPage, match=why):
        read_page(page_file(tmp_path, text))


@pytest.mark.parametrize(
    ("shown", "real"),
    [
        ("at 2026-11-26T09:40:43Z in 1.2 s", "at 2027-01-02T03:04:05.678Z in 350 ms"),
        ("plan e3b0c44298fc", "plan 1234567"),
        ("run 0b6f1a0e-3c5d-4b52-9a39-000000000000", "run 0b6f1a0e-3c5d-4b52-9a39-ffffffffffff"),
        ("a\n...\nz", "a\nb\nc\nz"),
        ("a\n...", "a"),
        ("NAME   STATE  ", "NAME STATE\n\n"),
    ],
)
def test_masks_hide_what_differs_from_run_to_run(shown: str, real: str) -> None:
    assert is_same(shown.splitlines(), real.splitlines())


@pytest.mark.parametrize(
    ("shown", "real"),
    [
        ("clicks 2026-03-20T12:00Z", "clicks 2026-03-20T13:00Z"),
        ("limit days(10)", "limit days(11)"),
        ("a\n...\nz", "a\nb"),
        ("", "a"),
        ("a.c", "abc"),
    ],
)
def test_masks_hide_nothing_else(shown: str, real: str) -> None:
    assert not is_same(shown.splitlines(), real.splitlines())
