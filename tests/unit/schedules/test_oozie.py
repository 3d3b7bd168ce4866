from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.entities.config_repo import FEED
from tests.unit.schedules.schedules import SETTINGS, scheduled, the
from toolkit.entities.repo import Schedules
from toolkit.schedules.actions import ActionKind
from toolkit.schedules.errors import NotSayable
from toolkit.schedules.files import mark_in
from toolkit.schedules.oozie import oozie_files

COORDINATOR = "{uri:oozie:coordinator:0.4}"
SHELL = "{uri:oozie:shell-action:0.3}"
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1).filter(
    lambda text: "${" not in text and "#{" not in text
)


def arguments(own: Schedules, name: str = "retention.clicks") -> list[str]:
    """What /bin/sh is given, as Oozie reads it: without blanks at the ends."""
    root = ET.fromstring(oozie_files(scheduled(settings=own)).texts[f"prod/primary/{name}/workflow.xml"])  # noqa: S314
    return [(each.text or "").strip() for each in root.iter(f"{SHELL}argument")]


def test_each_cluster_has_a_bundle_of_its_coordinators() -> None:
    files = oozie_files(scheduled())
    assert list(files.texts) == [
        "prod/primary/bundle.xml",
        *(
            f"prod/primary/{name}/{each}.xml"
            for name in ("process.clicks_hourly", "retention.clicks", "process_again")
            for each in ("coordinator", "workflow")
        ),
        "prod/_all/bundle.xml",
        "prod/_all/monitor/coordinator.xml",
        "prod/_all/monitor/workflow.xml",
        "prod/_all/watchdog/coordinator.xml",
        "prod/_all/watchdog/workflow.xml",
    ]
    bundle = ET.fromstring(files.texts["prod/primary/bundle.xml"])  # noqa: S314
    paths = [each.text for each in bundle.iter("{uri:oozie:bundle:0.2}app-path")]
    assert paths[0] == "${feedctlRoot}/prod/primary/process.clicks_hourly/coordinator.xml"
    assert len(paths) == 3


def test_the_nominal_time_is_the_coordinators() -> None:
    texts = oozie_files(scheduled()).texts
    coordinator = ET.fromstring(texts["prod/primary/process.clicks_hourly/coordinator.xml"])  # noqa: S314
    assert (coordinator.get("frequency"), coordinator.get("timezone")) == ("0 * * * *", "UTC")
    assert coordinator.findtext(f".//{COORDINATOR}value") == "${coord:nominalTime()}"
    assert arguments(SETTINGS)[-2:] == ["--time", "${nominalTime}"]


def test_days_of_the_week_have_names_since_oozie_counts_them_otherwise() -> None:
    weekly = FEED.replace("locations:", "lifecycle: {retention_stage: {frequency: days(7)}}\nlocations:", 1)
    schedule = scheduled({"feeds/clicks.yaml": weekly})
    text = oozie_files(schedule).texts["prod/primary/retention.clicks/coordinator.xml"]
    assert the(schedule, ActionKind.RETENTION).timetable.start.strftime("%a") == "Sat"
    assert ET.fromstring(text).get("frequency", "").split(" ", 1)[1] == "0 ? * SAT"  # noqa: S314


@given(options=st.lists(TEXTS, max_size=3), place=TEXTS)
@settings(max_examples=25, deadline=None)
def test_no_text_becomes_xml_or_shell(options: list[str], place: str) -> None:
    own = replace(SETTINGS, options=tuple(options), config_repo=place, working_directory=f"/{place}")
    dash, script, name, folder, *command = arguments(own)
    assert (dash, name, folder) == ("-c", "feedctl", f"/{place}")
    assert script == 'cd "$1" && shift && "$@"; c=$?; case $c in 5|75) exit 0;; esac; exit $c'
    expected = the(scheduled(settings=own), ActionKind.RETENTION).command
    assert command == [*expected, "--time", "${nominalTime}"]


@pytest.mark.parametrize("text", ["${wf:user()}", "#{x}", "a\nb"])
def test_what_oozie_would_take_for_an_expression_is_refused(text: str) -> None:
    with pytest.raises(NotSayable, match=r"Oozie cannot hold .*(expression|printable)"):
        oozie_files(scheduled(settings=replace(SETTINGS, options=(text,))))


def test_every_file_says_whose_it_is() -> None:
    for name, text in oozie_files(scheduled()).texts.items():
        mark = mark_in(text)
        assert mark is not None
        assert (mark.form, mark.repo, mark.environment, mark.cluster) == ("oozie", "web-feeds", *name.split("/")[:2])
