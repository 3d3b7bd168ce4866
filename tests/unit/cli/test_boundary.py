"""One error boundary: expected errors are one message, bugs have a traceback and a report file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from toolkit.cli.boundary import run_app
from toolkit.cli.streams import stand_in_for_closed_streams
from toolkit.errors import Failed, FeedctlError, InvalidInput, Refused, Unavailable
from toolkit.runs.errors import Stopped


def _app(error: BaseException | None = None, code: int | None = None) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    def command(number: int = 0) -> int | None:
        assert number == 0
        if error is not None:
            raise error
        return code

    return app


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidInput("bad"), 2),
        (Refused("bad"), 3),
        (Failed("bad"), 1),
        (Unavailable("bad"), 1),
        (FeedctlError("bad"), 1),
        (Stopped(reason="bad"), 143),
        (Stopped(reason="bad", interrupted=True), 130),
    ],
)
def test_an_expected_error_is_one_line_and_its_exit_code(
    error: Exception, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_app(_app(error), []) == code
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err == f"feedctl: {error}\n"


def test_ctrl_c_is_130_without_a_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(_app(KeyboardInterrupt()), []) == 130
    assert "Traceback" not in capsys.readouterr().err


def test_a_bug_has_a_traceback_and_a_report_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(_app(ZeroDivisionError("a bug of ours")), []) == 70
    err = capsys.readouterr().err
    assert "Traceback" in err
    place = Path(err.partition("the report is in ")[2].partition(";")[0])
    report = place.read_text()
    place.unlink()
    for part in ("feedctl ", "Python ", "command: ", "ZeroDivisionError: a bug of ours"):
        assert part in report


def test_a_bug_about_a_text_that_is_no_utf_8_has_a_report_file_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(_app(ValueError("found \udcff")), []) == 70
    assert "the report is in" in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "part"), [(["--numbre", "1"], "--numbre"), (["--number", "x"], "valid int")])
def test_wrong_usage_is_one_line_and_2(arguments: list[str], part: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(_app(), arguments) == 2
    err = capsys.readouterr().err
    assert part in err
    assert "--help" in err
    assert ".;" not in err


def test_no_arguments_at_all_are_the_help_without_a_message(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer(no_args_is_help=True)
    app.command("one")(lambda: None)
    app.command("two")(lambda: None)
    assert run_app(app, []) == 2
    printed = capsys.readouterr()
    assert "Usage" in printed.out
    assert printed.err == ""


@pytest.mark.parametrize(("code", "expected"), [(None, 0), (4, 4)])
def test_a_command_returns_its_exit_code(code: int | None, expected: int) -> None:
    assert run_app(_app(code=code), []) == expected


def test_help_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(_app(), ["--help"]) == 0
    assert "Usage" in capsys.readouterr().out


def test_a_reader_that_went_away_is_no_traceback() -> None:
    script = (
        "import typer, toolkit.cli.boundary as b\n"
        "app = typer.Typer()\n"
        "@app.command()\n"
        "def command() -> None:\n"
        "    for _ in range(100000): print('line')\n"
        "raise SystemExit(b.run_app(app, []))\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_change_neither_the_exit_code_nor_the_files_that_are_written(
    closed: str, tmp_path: Path
) -> None:
    script = (
        "import os, sys, typer\n"
        "from toolkit.cli.boundary import run_app\n"
        "from toolkit.cli.streams import print_result, say\n"
        "app = typer.Typer()\n"
        "@app.command()\n"
        "def command() -> int:\n"
        f"    with open({str(tmp_path / 'file')!r}, 'w') as file:\n"
        "        assert file.fileno() > 2\n"
        "        print_result('result'); print('more'); say('said'); sys.stderr.isatty()\n"
        "        os.system('echo from a program; echo from it >&2')\n"
        "        file.write('done')\n"
        "    return 4\n"
        "raise SystemExit(run_app(app, []))\n"
    )
    command = ["sh", "-c", f'"$0" -c "$1" {closed}', sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, (tmp_path / "file").read_text()) == (4, "done"), done.stderr
    if "2>" in closed:
        assert done.stderr == ""
    else:
        assert done.stderr == "said\nfrom it\n"


def test_open_streams_stay_as_they_are() -> None:
    before = (sys.stdin, sys.stdout, sys.stderr)
    stand_in_for_closed_streams()
    assert (sys.stdin, sys.stdout, sys.stderr) == before
