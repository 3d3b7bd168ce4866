"""The one place where errors become messages and exit codes (DESIGN section 2, STYLE H20)."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from toolkit import __version__
from toolkit.cli.logs import log_to_stderr
from toolkit.cli.streams import printable_streams
from toolkit.errors import FeedctlError, InvalidInput, NotYet, Refused, Skipped
from toolkit.result import ExitCode, Status
from toolkit.runs.errors import Stopped

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_app(app: typer.Typer, argv: Sequence[str] | None = None) -> int:
    """Run a command line program to its exit code; every error has become a message when this returns.

    Args:
        app: a command returns its exit code, or nothing for 0.
        argv: the arguments; None: those of the process.
    """
    stand_in_for_closed_streams()
    with printable_streams():
        log_to_stderr()
        try:
            code = _run(app, argv)
            sys.stdout.flush()
        except BrokenPipeError:
            silence(1)
            return ExitCode.FAILED
        return code


def stand_in_for_closed_streams() -> None:
    """Let streams that this process was started without (`>&-`, `2>&-`) go nowhere; Python has None for them.

    Their descriptors are taken as well: the next file that is opened, such as the audit file, would get one of them,
    and with it what other programs write there.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            if not _is_open(descriptor):
                silence(descriptor)
            stream = open(os.devnull, "w" if descriptor else "r", encoding="utf-8")  # noqa: SIM115, PTH123 - until the end
            setattr(sys, name, stream)


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


def say(message: str) -> None:
    """Tell the user on standard error; when nobody reads it any more, that changes nothing."""
    try:
        sys.stderr.write(message + "\n")
        sys.stderr.flush()
    except (BrokenPipeError, ValueError):
        silence(2)
    except UnicodeEncodeError:
        sys.stderr.write(message.encode("ascii", "backslashreplace").decode() + "\n")


def silence(descriptor: int) -> None:
    """Let a standard stream that nobody reads go nowhere, so that Python's own flush at the end does not fail."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_RDWR)
        if nowhere == descriptor:  # it was free
            os.set_inheritable(descriptor, True)
            return
        os.dup2(nowhere, descriptor)
        os.close(nowhere)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


def _run(app: typer.Typer, argv: Sequence[str] | None) -> int:
    try:
        code = typer.main.get_command(app).main(
            args=None if argv is None else list(argv), prog_name=_program(), standalone_mode=False
        )
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


def _program() -> str:
    name = os.path.basename(sys.argv[0])  # noqa: PTH119 - a name to show, not a path to use
    return "feedctl" if name in {"", "__main__.py"} else name


def _say_usage(error: typer.TyperException) -> None:
    """Say what is wrong with the arguments; of none at all the help, which stands there by now, says enough."""
    message = error.format_message().removesuffix(".")
    if message:
        say(f"feedctl: {message}{_help_hint(error)}")


def _help_hint(error: typer.TyperException) -> str:
    context: typer.Context | None = getattr(error, "ctx", None)
    return f"; see {context.command_path} --help" if context is not None else ""


def _bug_report(trace: str) -> str:
    """Write everything that a report needs to a file, and say where it is."""
    from toolkit.el import without_credentials

    command = without_credentials(" ".join(sys.argv))
    versions = f"feedctl {__version__}, Python {platform.python_version()}, {platform.platform()}"
    report = f"{versions}\ncommand: {command}\n\n{trace}"
    try:
        with tempfile.NamedTemporaryFile("w", prefix="feedctl-bug-", suffix=".txt", delete=False) as file:
            file.write(report)
        place = f"the report is in {file.name}; please send it to the maintainers"
    except OSError as error:
        place = f"no report file could be written ({error}); please send this to the maintainers: {versions}, {command}"
    return f"{trace}\nfeedctl: this is a bug in feedctl; {place}"
