"""A schedule as a block of a crontab, between two marks; all other lines of the crontab stay."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from toolkit.printable import on_one_line
from toolkit.schedules.actions import ActionKind, Schedule, ScheduledAction
from toolkit.schedules.errors import BrokenBlock, NotSayable
from toolkit.schedules.timetable import cron_times, offsets

_NOW = '"$(date -u +\\%Y-\\%m-\\%dT\\%H:\\%MZ)"'
"""The minute in which cron starts the line; to cron a bare percent sign is the end of the command."""
_MOST_BYTES, _MOST_LINES = 990, 10_000
"""Debian's crontab takes no command of 1,000 bytes, and no file of more lines."""
_LAST_LINES = 30


def crontab_block(schedule: Schedule) -> str:
    """The lines of all actions, between the marks.

    Raises:
        NotSayable: texts that cron would change.
    """
    wrong = [why for text in schedule.texts for why in _faults(text)]
    lines = [line for each in schedule.actions for line in _lines(schedule, each)]
    too_long = [each for each in lines if not each.startswith("#") and len(each.encode()) > _MOST_BYTES]
    wrong += [f"a line of more than {_MOST_BYTES} bytes ({each[:60]}...)" for each in too_long]
    if wrong:
        raise NotSayable(form="cron", found=wrong)
    begin, end = marks(schedule)
    return _of_lines("\n".join((begin, *_header(schedule), *lines, end, "")))


def marks(schedule: Schedule) -> tuple[str, str]:
    """The first and the last line of the block of an environment."""
    of = f"feedctl export cron: {schedule.repo} {schedule.environment}"
    return f"# >>> {of}", f"# <<< {of}"


def with_block(crontab: str, schedule: Schedule, file: str) -> str:
    """A crontab with the block in the place of that which was there, or at its end.

    Args:
        crontab: all of its text.
        schedule: of the block.
        file: its name, for errors.

    Raises:
        BrokenBlock: a mark without the other, or twice.
        NotSayable: as `crontab_block`.
    """
    block, lines = crontab_block(schedule), crontab.splitlines(keepends=True)
    begin, end = ([at for at, line in enumerate(lines) if line.rstrip("\r\n") == mark] for mark in marks(schedule))
    if not begin and not end:
        gap = "" if not crontab or crontab.endswith("\n") else "\n"
        return _of_lines(f"{crontab}{gap}{block}")
    if len(begin) != 1 or len(end) != 1 or end < begin:
        found = f"found {len(begin)} lines {marks(schedule)[0]!r} and {len(end)} lines {marks(schedule)[1]!r}"
        raise BrokenBlock(file=file, found=f"{found}, expected one of each, in this order")
    return _of_lines("".join((*lines[: begin[0]], block, *lines[end[0] + 1 :])))


def _of_lines(crontab: str) -> str:
    """The same text, when it is short enough."""
    count = crontab.count("\n")
    if count > _MOST_LINES:
        found = f"a crontab of {count:,} lines, where Debian's has {_MOST_LINES:,} at most: export clusters one by one,"
        raise NotSayable(form="cron", found=[f"{found} each into the crontab of a user of its own (--cluster)"])
    return crontab


def _header(schedule: Schedule) -> Iterator[str]:
    clock = schedule.settings.cron_timezone
    only = "" if schedule.is_whole else "".join(f" --cluster {name}" for name in schedule.clusters)
    yield f"# Made by `feedctl export cron --env {schedule.environment}{only}` from the config repo: change that, and"
    yield "# export again. Lines before and after the marks stay; PATH, JAVA_HOME and MAILTO belong before them."
    yield f"# The clock of this machine has to be that of {clock} (schedules.cron_timezone)."
    if len(offsets(clock)) > 1:
        yield "# It changes for daylight saving time: what is rarer than every hour is started every hour, and finds"
        yield "# itself what is due."
    for each in schedule.left_out:
        yield on_one_line(f"# Left out: {each.name} on {each.cluster}: {each.reason}")


def _lines(schedule: Schedule, action: ScheduledAction) -> Iterator[str]:
    times = cron_times(action.timetable, schedule.settings.cron_timezone)
    yield on_one_line(f"# {action.description}")
    if not times.is_exact:
        yield "# cron cannot say this: it fires more often, and the action finds what is due"
    yield f"{times} {_command(schedule, action)}"


def _command(schedule: Schedule, action: ScheduledAction) -> str:
    own = schedule.settings
    enter = "" if own.working_directory is None else f"cd {_quoted([own.working_directory])} && "
    command = f"{enter}{_quoted(action.command)}" + (f" --time {_NOW}" if action.takes_time else "")
    if own.log_directory is None:
        return command
    place = f"{action.cluster}.{action.name}" if action.cluster else action.name
    log = _quoted([f"{own.log_directory.rstrip('/')}/{place}.log"])
    report = f'echo "{action.name}: exit code $c"; tail -n {_LAST_LINES} {log}'
    is_fine = "" if action.kind is ActionKind.WATCHDOG else "[ $c = 5 ] || [ $c = 75 ] || "
    return f"{{ {command}; }} >>{log} 2>&1 || {{ c=$?; {is_fine}{{ {report}; }}; }}"


def _quoted(arguments: Sequence[str]) -> str:
    """The one place where texts become shell, and that cron's."""
    return shlex.join(arguments).replace("%", r"\%")


def _faults(text: str) -> Iterator[str]:
    """Yield the faults that quoting cannot help: crons differ about a backslash, and no line can be broken."""
    if "\\" in text:
        yield f"{text!r}, which has a backslash"
    if not text.isprintable():
        yield f"{text!r}, which is not printable"
