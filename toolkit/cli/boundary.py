"""The one place where a process begins and ends, and errors become messages and exit codes (DESIGN section 2)."""

from __future__ import annotations

import gc
import logging
import os
import platform
import sys
import time
import traceback
from typing import TYPE_CHECKING, NoReturn

import typer

from toolkit import __version__
from toolkit.cli.completion import complete_in_silence, is_completing
from toolkit.cli.streams import printable_streams, say, silence, stand_in_for_closed_streams
from toolkit.errors import FeedctlError, InvalidInput, NotYet, Refused, Skipped
from toolkit.printable import on_one_line
from toolkit.result import ExitCode, Status
from toolkit.runs.errors import Stopped
from toolkit.runs.spark_submit import lead_stderr_to_parent
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_app(app: typer.Typer, argv: Sequence[str] | None = None) -> int:
    """Run a command line program to its exit code; every error has become a message when this returns.

    Args:
        app: a command returns its exit code, or nothing for 0.
        argv: the arguments; None: those of the process.
    """
    stand_in_for_closed_streams()
    lead_stderr_to_parent(process_variables())
    with printable_streams():
        log_to_stderr()
        try:
            code = _run(app, argv)
            sys.stdout.flush()
        except BrokenPipeError:
            silence(1)
            return ExitCode.FAILED
        return code


def exit_code_of(error: FeedctlError) -> ExitCode:
    """The exit code that an error of ours stands for."""
    if isinstance(error, Stopped):
        return error.exit_code
    if isinstance(error, InvalidInput):
        return ExitCode.INVALID
    by_kind: dict[type[FeedctlError], ExitCode] = {
        Refused: ExitCode.REFUSED,
        Skipped: ExitCode.SKIPPED,
        NotYet: ExitCode.NOT_YET,
    }
    return next((code for kind, code in by_kind.items() if isinstance(error, kind)), ExitCode.FAILED)


def status_of(error: FeedctlError) -> Status:
    """The status of a run that ended with an error of ours before it had a result."""
    by_code = {status.exit_code: status for status in Status}
    return error.status if isinstance(error, Stopped) else by_code[exit_code_of(error)]


def _run(app: typer.Typer, argv: Sequence[str] | None) -> int:
    try:
        code = _run_command(app, sys.argv[1:] if argv is None else list(argv))
    except FeedctlError as error:
        say(f"feedctl: {error}")
        return exit_code_of(error)
    except typer.TyperException as error:
        _say_usage(error)
        return ExitCode.INVALID
    except (KeyboardInterrupt, typer.Abort):
        say("feedctl: interrupted")
        return ExitCode.INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception:  # noqa: BLE001 - the error boundary: whatever comes here is a bug, and is reported as one
        say(_bug_report(traceback.format_exc()))
        return ExitCode.BUG
    return code if isinstance(code, int) else ExitCode.DONE


def _run_command(app: typer.Typer, argv: list[str]) -> object:
    """Run the command that the arguments name; old names of its options are replaced when they are met."""
    command = typer.main.get_command(app)
    if "--help" in argv:
        from toolkit.cli.examples import add_example

        add_example(command, argv, program_name())
    try:
        return command.main(args=argv, prog_name=program_name(), standalone_mode=False)
    except typer.TyperException as error:
        from toolkit.cli.option_names import with_new_names

        renamed = with_new_names(error, argv)
        if renamed is None:
            raise
    return _run_command(app, renamed)


def program_name() -> str:
    """Return the name that the process was started by."""
    name = os.path.basename(sys.argv[0])  # noqa: PTH119 - a name to show, not a path to use
    return "feedctl" if name in {"", "__main__.py"} else name


def _say_usage(error: typer.TyperException) -> None:
    """Say what is wrong with the arguments; of none at all the help, which stands there by now, says enough."""
    from toolkit.cli.option_names import meant_option

    meant = meant_option(error)
    message = (f"{getattr(error, 'message', '')}; {meant}" if meant else error.format_message()).removesuffix(".")
    if message:
        say(f"feedctl: {message}{_help_hint(error)}")


def _help_hint(error: typer.TyperException) -> str:
    context: typer.Context | None = getattr(error, "ctx", None)
    return f"; see {context.command_path} --help" if context is not None else ""


def _bug_report(trace: str) -> str:
    """Write everything that a report needs to a file, and say where it is."""
    import tempfile

    from toolkit.el import without_credentials

    command = without_credentials(" ".join(sys.argv))
    versions = f"feedctl {__version__}, Python {platform.python_version()}, {platform.platform()}"
    report = f"{versions}\ncommand: {command}\n\n{trace}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="feedctl-bug-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
        ) as file:
            file.write(report)
        place = f"the report is in {file.name}; please send it to the maintainers"
    except OSError as error:
        place = f"no report file could be written ({error}); please send this to the maintainers: {versions}, {command}"
    return f"{trace}\nfeedctl: this is a bug in feedctl; {place}"


_NEW_OBJECTS = 200_000
"""So many between two looks for cycles: a command makes hardly any, and Python's 700 cost a fifth of its start."""


def run_process(app: typer.Typer) -> NoReturn:
    """Run a command line program, and end the process with its exit code.

    Args:
        app: as for `run_app`.
    """
    gc.set_threshold(_NEW_OBJECTS)
    if is_completing(program_name()):
        complete_in_silence()
    code = run_app(app)
    gc.freeze()  # at its end Python would look at every object once more, though the memory goes back as a whole
    raise SystemExit(code)


def log_to_stderr(level: int = logging.WARNING) -> None:
    """Send the logs of the process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    formatter = _OneLine("ts=%(asctime)sZ level=%(levelname)s logger=%(name)s %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime  # instants in UTC, as everywhere in feedctl
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=level)


class _OneLine(logging.Formatter):
    """An entry is one line, whatever is quoted in it; only a traceback has more of its own."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - named by logging
        return on_one_line(super().formatMessage(record))
