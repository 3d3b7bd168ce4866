"""Tests of what feedctl prints is only text: on a terminal, in the log of a pipeline, in a comment on a pull request.

Against whoever chooses names, values, refs and messages: the author of a pull request, who may write into a data
folder, a server that answers with an error. They must not drive the terminal of who reads (colours, cursor, titles,
links, hidden and turned text), forge a line, give commands to the runner of a pipeline (``::``, ``##[``, ``##vso[``),
nor get a secret repeated in a log.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path

import pytest
import typer
import yaml
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from tests.unit.config_source.checkouts import checkout
from tests.unit.rendering.lint_reports import FINDING, report
from toolkit.cli.boundary import log_to_stderr, run_app
from toolkit.cli.main import main
from toolkit.cli.streams import Keeps, encoded, print_result, printable_streams
from toolkit.errors import InvalidInput
from toolkit.linter.rules import RULES
from toolkit.printable import in_place, on_one_line, printable, styled
from toolkit.rendering.lint import lint_terminal_text, lint_text
from toolkit.rendering.lint_formats import lint_github, lint_json, lint_sarif
from toolkit.rendering.markdown import code, escaped, prose
from toolkit.rendering.tables import write_table

DRIVING = (
    "\x1b[31mred",
    "\x1b[2J",
    "\x1b]8;;file:///etc/passwd\x1b\\a link\x1b]8;;\x1b\\",
    "\x1b]0;a title\x07",
    "\x9b31m",
    "\u202etxet denrut",
    "\u2066isolated\u2069",
    "hidden\u200b",
    "over\rwritten",
    "back\b\b\b\b",
    "two\u2028lines",
    "\U000e0041 a tag",
)
"""What drives a terminal, or shows something else than what is there."""

COMMANDS = (
    "::error file=a::gone",
    "  ::add-mask::x",
    "\t::stop-commands::x",
    "fine\n::set-env name=PATH::/tmp",
    "\r::error::x",
    "a ##[error]gone",
    "##[group]x",
    "a ##vso[task.setvariable variable=x]y",
    "##teamcity[buildStop]",
)
"""What the runner of a pipeline takes for a command."""

ALL_AT_ONCE = ("".join(DRIVING), "\n".join(COMMANDS))
"""Several of them together, for tests that run commands."""


def _is_command(line: str) -> bool:
    """As GitHub's runner and Azure's agent see it."""
    return line.strip().startswith("::") or "##[" in line or "##vso[" in line or "##teamcity[" in line


def _is_harmless(text: str) -> bool:
    is_text = text.replace("\n", "").replace("\t", "").isprintable()
    return is_text and not any(map(_is_command, text.splitlines()))


def _app(*, fails: str = "", prints: str = "") -> typer.Typer:
    app = typer.Typer()

    @app.command()
    def command() -> None:
        if prints:
            sys.stdout.writelines([prints, "\n", "", prints, "\n"])
        if fails:
            raise InvalidInput(fails)

    return app


@pytest.mark.extended
@given(st.text() | st.lists(st.sampled_from((*DRIVING, *COMMANDS, ":", "#", "[", "\n", " ", "a"))).map("".join))
def test_nothing_is_left_of_any_text_that_is_more_than_text(text: str) -> None:
    assert _is_harmless(printable(text))
    assert on_one_line(text).isprintable()
    assert in_place(text).isprintable()
    assert len(in_place(text)) == len(text)


@given(st.text() | st.lists(st.sampled_from((*DRIVING, *COMMANDS))).map("".join))
def test_a_json_document_stays_the_same_document(text: str) -> None:
    document = {"finding": [text], text: 1}
    assert json.loads(printable(json.dumps(document, ensure_ascii=False, indent=2))) == document


@pytest.mark.parametrize("text", [*DRIVING, *COMMANDS])
def test_whatever_prints_or_fails_prints_text(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    run_app(_app(prints=text, fails=text), [])
    printed = capsys.readouterr()
    assert _is_harmless(printed.out), printed.out
    assert _is_harmless(printed.err), printed.err


@pytest.mark.parametrize("text", [*DRIVING, *COMMANDS])
def test_a_bug_quotes_text_only(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()

    @app.command()
    def command() -> None:
        raise ZeroDivisionError(text)

    assert run_app(app, []) == 70
    printed = capsys.readouterr().err
    Path(printed.partition("the report is in ")[2].partition(";")[0]).unlink()
    assert _is_harmless(printed), printed


@pytest.mark.parametrize("text", [*DRIVING, *COMMANDS])
def test_an_entry_of_the_log_is_one_harmless_line(text: str) -> None:
    with _bare_logging() as stream, redirect_stderr(stream), printable_streams():
        log_to_stderr()
        logging.getLogger("feedctl.test").warning("event=x reason=%s", text)
    assert _is_harmless(stream.getvalue())
    assert stream.getvalue().count("\n") == 1


@contextmanager
def _bare_logging() -> Iterator[StringIO]:
    """A stream for a log, while no handler of the tests is there."""
    root = logging.getLogger()
    before, root.handlers = root.handlers, []
    try:
        yield StringIO()
    finally:
        root.handlers = before


def test_a_command_in_two_pieces_is_none() -> None:
    stream = StringIO()
    with redirect_stdout(stream), printable_streams():
        sys.stdout.writelines(["a ", "::error::x", "\n", "  ", "::error::x", "\n", "a", "::b", "\n"])
    assert stream.getvalue() == "a ::error::x\n  \\u003a:error::x\na::b\n"


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("text", ALL_AT_ONCE)
def test_results_are_text_in_every_form(text: str, form: str, config_repo: Path, run: Feedctl) -> None:
    cluster = config_repo / "clusters" / "primary.yaml"
    cluster.write_text(cluster.read_text() + yaml.safe_dump({"description": text}))
    done = run("entity", "diff", "HEAD", "--format", form, "--config-repo", str(config_repo))
    assert "description" in done.out
    assert _is_harmless(done.out), done.out


@pytest.mark.parametrize("text", ALL_AT_ONCE)
def test_refs_and_arguments_are_quoted_as_text(text: str, config_repo: Path, run: Feedctl) -> None:
    place = ("--config-repo", str(config_repo))
    for arguments in (
        ("entity", "diff", text, *place),
        ("entity", "show", text, *place),
        ("entity", "lookup", "--path", f"/{text}", *place),
        ("run", "steps", text),
        ("lint", "--against", text, *place),
        ("lint", text, *place),
    ):
        done = run(*arguments)
        assert done.out + done.err
        assert _is_harmless(done.out + done.err), (arguments, done)


@pytest.mark.parametrize("text", ALL_AT_ONCE)
def test_problems_of_the_repo_are_quoted_as_text(text: str, config_repo: Path, run: Feedctl) -> None:
    place = ("--config-repo", str(config_repo))
    (config_repo / "clusters" / "bad.yaml").write_text(yaml.safe_dump({"kind": "cluster", "name": text, text: text}))
    for command in (("entity", "list"), ("lint",), ("lint", "--format", "json"), ("lint", "--format", "sarif")):
        done = run(*command, *place)
        assert "bad.yaml" in done.out + done.err
        assert _is_harmless(done.out + done.err), (command, done)


@pytest.mark.parametrize("text", [*DRIVING, *COMMANDS])
def test_only_our_own_workflow_commands_are_commands(text: str) -> None:
    bad = replace(FINDING, file=f"feeds/{text}", message=text, hint=text)
    printed = encoded(lint_github(replace(report(bad), base=text)), Keeps.COMMANDS).decode()
    commands = [line for line in printed.splitlines() if _is_command(line)]
    assert len(commands) == 1
    assert commands[0].startswith("::error file=feeds/")
    assert printed.replace("\n", "").replace("\t", "").isprintable()


@pytest.mark.parametrize("text", [*DRIVING, "[red]x[/red]", "[link=file:///etc]x[/link]", ":skull:"])
def test_on_a_terminal_only_our_own_colours_are_colours(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "300")
    words = on_one_line(text)
    table = StringIO()
    table.isatty = lambda: True  # type: ignore[method-assign]
    write_table(("name",), [[text]], table)
    bad = replace(FINDING, message=text)
    for printed in (table.getvalue(), lint_terminal_text(report(bad), RULES)):
        assert words in printed
        assert printed == styled(printed)
    assert "\x1b" not in styled(text).replace("\x1b[31m", "").replace("\x1b[2J", "")


def test_rich_writes_its_colours_past_the_escapes_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    stream = StringIO()
    with redirect_stdout(stream), printable_streams():
        sys.stdout.write("\x1b[31mred\n")
        Console(force_terminal=True).print(Text("red\x1b]0;title\x07", style="red"))
    assert stream.getvalue() == "\\u001b[31mred\n\x1b[31mred\\u001b]0;title\x1b[0m\n"


@pytest.mark.parametrize("text", DRIVING)
def test_markdown_shows_what_is_there(text: str) -> None:
    assert _is_harmless(code(text))
    assert "&#8238;" not in escaped(text)
    assert _is_harmless(escaped(text))
    assert _is_harmless(prose(text))


def test_after_a_command_the_streams_are_those_of_before() -> None:
    before = (sys.stdout, sys.stderr)
    run_app(_app(prints="x"), [])
    assert (sys.stdout, sys.stderr) == before


def test_a_result_is_printable_as_bytes_too() -> None:
    stream = TextIOWrapper(BytesIO())
    with redirect_stdout(stream), printable_streams():
        print_result("a\x1b[31m\n::error::x\n")
    stream.buffer.seek(0)
    assert stream.buffer.read() == b"a\\u001b[31m\n\\u003a:error::x\n"


SECRETS = (
    "fs.s3a.secret.key: wJalrXhunter2, retention: 3 # a note",
    "x: {password: hunter2, retnetion: 3}",
    '# password: "hunter2"',
    "password:hunter2",
    "'db_password' : 'it''s hunter2'",
    "dbPassword: 12345hunter2",
    "- token: /hunter2/slashes",
    "command: run --password=hunter2 -x",
    "url: postgresql://user:hunter2@host/db?password=hunter2",
    "url: s3a://KEY:hunter2@bucket/a",
    "password: |\n  hunter2",
    "password:\n  hunter2",
    "key: |\n  -----BEGIN RSA PRIVATE KEY-----\n  hunter2\n",
)


@pytest.mark.parametrize("source", SECRETS)
def test_a_line_that_is_shown_for_another_mistake_does_not_repeat_a_secret(source: str) -> None:
    findings = [
        replace(FINDING, line=number + 1, column=1, end_column=4, rule="unknown-key")
        for number, _ in enumerate(source.splitlines())
    ]
    made = report(*findings, source=source)
    for printed in (
        lint_text(made, RULES),
        lint_terminal_text(made, RULES),
        lint_github(made),
        lint_json(made),
        lint_sarif(made, RULES),
    ):
        assert "hunter2" not in printed


@pytest.mark.parametrize(
    "line",
    [
        "password: ${env:DB_PASSWORD}",
        "password: {env: DB_PASSWORD}",
        "hadoop.security.credential.provider.path: jceks://hdfs/etl/s3.jceks",
        "partition_key: day # by day",
        "retention: {limit: days(3)}",
    ],
)
def test_what_is_no_secret_is_shown_as_it_is(line: str) -> None:
    assert line in lint_text(report(replace(FINDING, line=1), source=line), {})


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_a_difference_does_not_repeat_a_secret(form: str, config_repo: Path, run: Feedctl) -> None:
    cluster = config_repo / "clusters" / "primary.yaml"
    cluster.write_text(f"{cluster.read_text()}hadoop_conf: {{fs.s3a.secret.key: hunter2, a.dir: /tmp}}\n")
    done = run("entity", "diff", "HEAD", "--format", form, "--config-repo", str(config_repo))
    assert "/tmp" in done.out
    assert "hunter2" not in done.out


def test_a_message_does_not_repeat_a_token_either(config_repo: Path, run: Feedctl) -> None:
    token = "ghp_" + "a" * 36
    cluster = config_repo / "clusters" / "primary.yaml"
    cluster.write_text(f"{cluster.read_text()}{token}: 1\n")
    for form in ("text", "json", "sarif", "github"):
        done = run("lint", "--format", form, "--config-repo", str(config_repo))
        assert "unknown-key" in done.out
        assert token not in done.out


@dataclass(frozen=True)
class Ran:
    """One run of the command."""

    out: str
    err: str


@dataclass(frozen=True)
class Feedctl:
    """The command, with the streams that it prints to."""

    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Ran:
        main(arguments)
        printed = self.capsys.readouterr()
        return Ran(printed.out, printed.err)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Feedctl:
    monkeypatch.setattr("sys.argv", ["feedctl"])
    return Feedctl(capsys)


@pytest.fixture
def config_repo(tmp_path: Path) -> Path:
    """A checkout with a config repo of one cluster."""
    cluster = "kind: cluster\nname: primary\ninterfaces: {write: {endpoint: 'file:///', version: '1'}}\n"
    return checkout(tmp_path / "repo", {"repo.yaml": "name: web\n", "clusters/primary.yaml": cluster})
