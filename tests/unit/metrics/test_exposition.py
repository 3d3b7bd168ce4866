"""The text of metrics: read back by the library's parsers, and by Prometheus' own tool where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.openmetrics.parser import text_string_to_metric_families as openmetrics_families
from prometheus_client.parser import text_string_to_metric_families as text_families

from toolkit.metrics import definitions
from toolkit.metrics.definitions import METRICS
from toolkit.metrics.exposition import ExpositionFormat, exposed
from toolkit.metrics.samples import Sample

EVERY = [Sample(each, tuple(f"{label} 1" for label in each.labels), 1.5) for each in METRICS]
HOSTILE = 'a"b\\c\nd\\n}{,="é\u2028\u202e\x1b[31m\r\x00'


def label_of(text: str, form: ExpositionFormat) -> str:
    parse = openmetrics_families if form is ExpositionFormat.OPENMETRICS else text_families
    (family,) = parse(text)
    (sample,) = family.samples
    return str(sample.labels["channel"])


@pytest.mark.parametrize("form", ExpositionFormat)
def test_each_metric_is_read_back_with_its_type_its_labels_and_its_value(form: ExpositionFormat) -> None:
    parse = openmetrics_families if form is ExpositionFormat.OPENMETRICS else text_families
    families = list(parse(exposed(EVERY, form).decode()))
    found = {
        sample.name: (family.type, sample.labels, sample.value) for family in families for sample in family.samples
    }
    assert found == {
        each.metric.name: (each.metric.type.value, dict(zip(each.metric.labels, each.labels, strict=True)), 1.5)
        for each in EVERY
    }


@pytest.mark.parametrize("form", ExpositionFormat)
@given(st.text(st.characters(categories=["L", "N", "P", "S"], include_characters='"\\\n '), min_size=1, max_size=50))
def test_a_label_with_quotes_backslashes_and_newlines_is_read_back(form: ExpositionFormat, channel: str) -> None:
    text = exposed([Sample(definitions.OUTBOX_WAITING, (channel,), 1)], form).decode()
    if channel.isprintable() and "##" not in channel and "::" not in channel:
        assert label_of(text, form) == channel
    assert "\n" not in channel or "\n" in label_of(text, form)


@pytest.mark.parametrize("form", ExpositionFormat)
def test_a_hostile_label_adds_no_line_and_controls_no_terminal(form: ExpositionFormat) -> None:
    text = exposed([Sample(definitions.OUTBOX_WAITING, (HOSTILE,), 1)], form).decode()
    assert len([line for line in text.splitlines() if not line.startswith("#")]) == 1
    assert text.replace("\n", "").isprintable()
    assert label_of(text, form).startswith('a"b\\c\nd\\n}{,="é')


def test_a_label_has_a_bound() -> None:
    text = exposed([Sample(definitions.OUTBOX_WAITING, ("x" * 100_000,), 1)], ExpositionFormat.TEXT).decode()
    assert len(label_of(text, ExpositionFormat.TEXT)) == 255


def test_an_empty_label_is_absent() -> None:
    text = exposed([Sample(definitions.LAST_SUCCESS, ("clicks", "primary", "eviction", ""), 1)], ExpositionFormat.TEXT)
    assert b'{action="eviction",cluster="primary",entity="clicks"} 1.0\n' in text


def test_the_tool_of_prometheus_finds_nothing_wrong_with_names_types_and_text() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        if os.environ.get("CI"):
            pytest.fail("promtool is missing; install Debian's package prometheus")
        pytest.skip("promtool is missing; it comes with Debian's package prometheus")
    hostile = Sample(definitions.OUTBOX_DEAD, (HOSTILE,), 2)
    text = exposed([*EVERY, hostile], ExpositionFormat.TEXT)
    ran = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout + ran.stderr) == (0, b"")
