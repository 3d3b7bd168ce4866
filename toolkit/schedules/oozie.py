"""A schedule for Oozie: a coordinator and a workflow for each action, and a bundle of those of each cluster.

By schemas that Oozie 4 and 5 both know. An expression of cron's kind says when: it counts days in UTC wherever the
server is, and goes on from where a coordinator is started, without a backlog since the validity's start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as ET

from toolkit.schedules.actions import ActionKind, Schedule, ScheduledAction
from toolkit.schedules.errors import NotSayable
from toolkit.schedules.files import Files, Mark, by_cluster
from toolkit.schedules.timetable import CronTimes, cron_times

FORM = "oozie"
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_RUN = '"$@"; c=$?; case $c in 5|75) exit 0;; esac; exit $c'
"""To Oozie whatever is not 0 has failed. All that is not this text comes as arguments, of which sh makes nothing."""
_ENTER = 'cd "$1" && shift && '
_WATCH = '"$@"'
_ROOT = "${feedctlRoot}"
_LAST = "2100-01-01T00:00Z"
_NOTES = (
    "Made by `feedctl export oozie` from the config repo: change that, and export again. Copy the exported folder to "
    "the file system of the cluster and start this bundle: oozie job -run -Doozie.bundle.application.path=... with "
    "feedctlRoot (the copied folder), nameNode, jobTracker and start (now, as 2026-03-01T06:40Z)."
)


def oozie_files(schedule: Schedule) -> Files:
    """The files by path: ``ENV/CLUSTER/bundle.xml``, ``ENV/CLUSTER/ACTION/coordinator.xml`` and ``workflow.xml``.

    Raises:
        NotSayable: texts that Oozie would take for an expression of its own.
    """
    wrong = [f"{text!r}, which has an expression" for text in schedule.texts if "${" in text or "#{" in text]
    wrong += [f"{text!r}, which is not printable" for text in schedule.texts if not text.isprintable()]
    if wrong:
        raise NotSayable(form="Oozie", found=wrong)
    return Files(form=FORM, schedule=schedule, texts=dict(_files(schedule)))


def _files(schedule: Schedule) -> Iterator[tuple[str, str]]:
    for cluster, actions in by_cluster(schedule):
        folder = f"{schedule.environment}/{cluster}"
        mark = Mark(form=FORM, repo=schedule.repo, environment=schedule.environment, cluster=cluster)
        yield f"{folder}/bundle.xml", _text(_bundle(folder, actions), mark)
        for each in actions:
            place = f"{folder}/{each.name}"
            yield f"{place}/coordinator.xml", _text(_coordinator(place, each), mark)
            yield f"{place}/workflow.xml", _text(_workflow(place, each, schedule.settings.working_directory), mark)


def _bundle(folder: str, actions: Sequence[ScheduledAction]) -> ET.Element:
    root = ET.Element("bundle-app", {"name": folder, "xmlns": "uri:oozie:bundle:0.2"})
    root.append(ET.Comment(f" {_NOTES} "))
    parameters = dict.fromkeys(("feedctlRoot", "nameNode", "jobTracker", "start"))
    _properties(root, "parameters", {**parameters, "end": _LAST})
    for each in actions:
        coordinator = ET.SubElement(root, "coordinator", name=each.name)
        _element(coordinator, "app-path", f"{_ROOT}/{folder}/{each.name}/coordinator.xml")
    return root


def _coordinator(place: str, action: ScheduledAction) -> ET.Element:
    names = {"name": place, "frequency": _frequency(cron_times(action.timetable, "UTC"))}
    span = {"start": "${start}", "end": "${end}", "timezone": "UTC", "xmlns": "uri:oozie:coordinator:0.4"}
    root = ET.Element("coordinator-app", {**names, **span})
    controls = ET.SubElement(root, "controls")
    _element(controls, "concurrency", "1")
    _element(controls, "execution", "LAST_ONLY")
    workflow = ET.SubElement(ET.SubElement(root, "action"), "workflow")
    _element(workflow, "app-path", f"{_ROOT}/{place}/workflow.xml")
    _properties(workflow, "configuration", {"nominalTime": "${coord:nominalTime()}"})
    return root


def _workflow(place: str, action: ScheduledAction, directory: str | None) -> ET.Element:
    root = ET.Element("workflow-app", {"name": place, "xmlns": "uri:oozie:workflow:0.5"})
    ET.SubElement(root, "start", to="run")
    step = ET.SubElement(root, "action", name="run")
    shell = ET.SubElement(step, "shell", xmlns="uri:oozie:shell-action:0.3")
    _element(shell, "job-tracker", "${jobTracker}")
    _element(shell, "name-node", "${nameNode}")
    _element(shell, "exec", "/bin/sh")
    script = _WATCH if action.kind is ActionKind.WATCHDOG else _RUN
    enter = () if directory is None else (directory,)
    time = ("--time", "${nominalTime}") if action.takes_time else ()
    for argument in ("-c", f"{_ENTER if enter else ''}{script}", "feedctl", *enter, *action.command, *time):
        _element(shell, "argument", argument)
    ET.SubElement(step, "ok", to="end")
    ET.SubElement(step, "error", to="failed")
    _element(ET.SubElement(root, "kill", name="failed"), "message", "${wf:errorMessage(wf:lastErrorNode())}")
    ET.SubElement(root, "end", name="end")
    return root


def _frequency(times: CronTimes) -> str:
    """Oozie counts days of the week from 1, so they are named; of both kinds of days one is not asked for."""
    *fields, days, months = times.before_weekdays.split()
    if len(times.weekdays) == len(_WEEKDAYS):
        return " ".join((*fields, days, months, "*"))
    return " ".join((*fields, "?", months, ",".join(_WEEKDAYS[each] for each in times.weekdays)))


def _properties(parent: ET.Element, name: str, values: dict[str, str | None]) -> None:
    holder = ET.SubElement(parent, name)
    for key, value in values.items():
        each = ET.SubElement(holder, "property")
        _element(each, "name", key)
        if value is not None:
            _element(each, "value", value)


def _element(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = text


def _text(root: ET.Element, mark: Mark) -> str:
    """The one place where texts become XML."""
    ET.indent(root)
    written = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<?{mark}?>\n{written}\n'
