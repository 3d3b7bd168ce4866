"""Triggers, outlets and datasets as users write them: what is understood, and what is refused with which words."""

from __future__ import annotations

import pytest

from tests.unit.entities.config_repo import FEED, PROCESS, problems, repository
from toolkit.el import Frequency
from toolkit.entities import to_document
from toolkit.entities.process import Process
from toolkit.entities.trigger import TriggerCondition, TriggerEntry
from toolkit.entities.trigger_names import TriggerNames
from toolkit.entities.trigger_vocabulary import (
    Coalesce,
    Emit,
    GroupBy,
    OnPause,
    OutputScope,
    PollBy,
    ScheduleMode,
    StartFrom,
    UpdateKind,
)
from toolkit.entities.vocabulary import Order

FILE = "processes/clicks_hourly.yaml"
ORDERS = FEED.replace("name: clicks", "name: orders\ngroups: [sales]").replace("/data/clicks", "/data/orders")
OTHERS = {"feeds/orders.yaml": ORDERS, "repo.yaml": "name: web\ndatasets: [{uri: my-dataset}]\n"}

TRIGGER = """\
schedule: also
trigger:
  all:
    - clicks
    - {feed: orders, min_count: 2, partition: {region: us}}
    - any: [sales, my-dataset, "s3://bucket/x/*", {uri: "S3A://bucket/y"}, {group: sales, cluster: primary}]
  by: any_update
  on: [available, updated]
  coalesce: latest
  max_queued: 3
  start_from: earliest
  on_pause: drop
  valid_for: hours(6)
  max_chain: 4
  allow_cycle: counts up to three
  order: LIFO
outlets: [my-dataset]
inlets: ["s3://bucket/z"]
emit: always
"""


def process(text: str) -> Process:
    return repository({**OTHERS, FILE: PROCESS + text}).process("clicks_hourly")


def refused(text: str) -> list[str]:
    return problems({**OTHERS, FILE: PROCESS + text})


def test_a_trigger_is_read_whole() -> None:
    found = process(TRIGGER)
    trigger = found.trigger
    assert trigger is not None
    assert (found.schedule, found.emit) == (ScheduleMode.ALSO, Emit.ALWAYS)
    assert (found.outlets, found.inlets) == (("my-dataset",), ("s3://bucket/z",))
    assert trigger.condition == TriggerCondition(
        all=(
            TriggerEntry(name="clicks"),
            TriggerEntry(feed="orders", min_count=2, partition={"region": "us"}),
            TriggerCondition(
                any=(
                    TriggerEntry(name="sales"),
                    TriggerEntry(name="my-dataset"),
                    TriggerEntry(name="s3://bucket/x/*"),
                    TriggerEntry(uri="S3A://bucket/y"),
                    TriggerEntry(group="sales", cluster="primary"),
                )
            ),
        )
    )
    assert (trigger.by, trigger.coalesce, trigger.order) == (GroupBy.ANY_UPDATE, Coalesce.LATEST, Order.LIFO)
    assert trigger.on == (UpdateKind.AVAILABLE, UpdateKind.UPDATED)
    assert (trigger.start_from, trigger.on_pause) == (StartFrom.EARLIEST, OnPause.DROP)
    assert (trigger.max_queued, trigger.max_chain, trigger.allow_cycle) == (3, 4, "counts up to three")
    assert str(trigger.valid_for) == "hours(6)"


def test_a_trigger_comes_back_as_it_was_written() -> None:
    repo = repository({**OTHERS, FILE: PROCESS + TRIGGER})
    assert to_document(repo.process("clicks_hourly")) == repo.merged("clicks_hourly")


def test_plain_texts_are_inputs_then_feeds_then_groups_then_uris() -> None:
    repo = repository({**OTHERS, FILE: PROCESS + TRIGGER})
    found = repo.process("clicks_hourly")
    assert found.trigger is not None
    names = TriggerNames.of(repo.feeds, repo.settings.datasets, repo.processes.values())
    resolved = names.resolved_condition(found.trigger.condition, found)
    assert list(resolved.entries()) == [
        TriggerEntry(input="clicks"),
        TriggerEntry(feed="orders", min_count=2, partition={"region": "us"}),
        TriggerEntry(group="sales"),
        TriggerEntry(uri="my-dataset"),
        TriggerEntry(uri="s3://bucket/x/*"),
        TriggerEntry(uri="S3A://bucket/y"),
        TriggerEntry(group="sales", cluster="primary"),
    ]


def test_a_process_without_a_trigger_is_as_before() -> None:
    found = process("")
    assert (found.schedule, found.trigger, found.outlets, found.emit) == (ScheduleMode.ONLY, None, (), Emit.ON_CHANGE)


def test_an_output_may_be_temporary() -> None:
    text = 'outputs: {o: {feed: orders, instance: "now(0,0)", scope: run}}\n'
    assert process(text).outputs["o"].scope is OutputScope.RUN


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("schedule: also\n", "trigger-schedule: schedule: also without a trigger; add trigger: {all: [...]}"),
        ("schedule: never\n", "trigger-schedule: schedule: never without a trigger; "),
        (
            "trigger: {all: [clicks]}\n",
            "trigger-schedule: found a trigger with schedule: only, which starts nothing by ",
        ),
        (
            "schedule: and\ntrigger: {all: [clicks], by: any_update}\n",
            "trigger-schedule: by: any_update with schedule: and, which waits for data of each instance; write by: key",
        ),
        (
            "schedule: also\ntrigger: {}\n",
            "trigger-entry: expected exactly one of all and any, found none; add all",
        ),
        (
            "schedule: also\ntrigger: {all: [clicks], any: [orders]}\n",
            "trigger-entry: expected exactly one of all and any, found both; nest one in the other",
        ),
        (
            "schedule: also\ntrigger: {any: []}\n",
            "bad-value: trigger.any: found an empty list, expected a list with at least 1 item",
        ),
        (
            "schedule: also\ntrigger: {all: [{any: []}]}\n",
            "bad-value: trigger.all[0].any: found an empty list, expected a list with at least 1 item",
        ),
        (
            "schedule: also\ntrigger: {all: [{input: clicks, min_count: 0}]}\n",
            "bad-value: trigger.all[0].min_count: found the number 0, expected at least 1",
        ),
        (
            "schedule: also\ntrigger: {all: [clicsk]}\n",
            "expected the name of an input, feed, group or listed dataset, or a URI; did you mean clicks?",
        ),
        (
            "schedule: also\ntrigger: {all: [{input: clicsk}]}\n",
            "unknown-input: found the input 'clicsk', expected one of the process's inputs; did you mean clicks?",
        ),
        ("schedule: also\ntrigger: {all: [{feed: ordesr}]}\n", "unknown-feed: found the feed 'ordesr', expected one "),
        (
            "schedule: also\ntrigger: {all: [{group: sale}]}\n",
            "unknown-group: found the group 'sale', expected one that a feed is in; did you mean sales?",
        ),
        (
            "schedule: also\ntrigger: {all: [{feed: orders, input: clicks}]}\n",
            "bad-value: trigger.all[0]: found input and feed, expected exactly one of input, feed, group, uri, ",
        ),
        (
            "schedule: also\ntrigger: {all: [{min_count: 2}]}\n",
            "bad-value: trigger.all[0]: found none, expected exactly one of input, feed, group, uri, all and any",
        ),
        (
            "schedule: also\ntrigger: {all: [{any: [clicks], min_count: 2}]}\n",
            "bad-value: trigger.all[0]: found min_count beside any, expected any alone",
        ),
        (
            "schedule: also\ntrigger: {all: [{any: [{all: [{any: [{all: [clicks]}]}]}]}]}\n",
            "conditions are nested at most 4 deep",
        ),
        (
            "schedule: also\ntrigger: {all: [{feed: orders, cluster: backup}]}\n",
            "unknown-cluster: found the cluster 'backup', expected one under clusters/",
        ),
        (
            "schedule: also\ntrigger: {all: [{input: clicks, cluster: primary}]}\n",
            "trigger-entry: found a cluster without a feed or group; ",
        ),
        (
            'schedule: also\ntrigger: {all: [{uri: "feedctl:feed/ordesr?cluster=primary"}]}\n',
            "unknown-feed: found the feed 'ordesr', expected one under feeds/; did you mean orders?",
        ),
        (
            'schedule: also\ntrigger: {all: [{uri: "feedctl:feed/orders?cluster=backup"}]}\n',
            "feed-not-on-cluster: the feed orders is not on the cluster backup; the feed is on primary",
        ),
        ('schedule: also\ntrigger: {all: ["airflow:x"]}\n', "bad-dataset-pattern: an entry of the trigger: "),
        ('outlets: ["a b"]\n', "bad-dataset-uri: outlets[0]: \"a b\": at character 2: found the character ' '"),
        (
            'outlets: ["feedctl:feed/orders?cluster=primary"]\n',
            "dataset-feed: found the feed orders as an outlet; make it",
        ),
        ("schedule: sometimes\n", "bad-value: schedule: found 'sometimes', expected one of only, also, and, never"),
    ],
)
def test_a_mistake_is_named_with_what_to_write(text: str, problem: str) -> None:
    found = refused(text)
    assert len(found) == 1, found
    assert problem in found[0]
    assert found[0].startswith(f"{FILE}:")


def test_an_entry_that_means_two_things_asks_which() -> None:
    text = (
        PROCESS.replace("clicks: {feed: clicks", "orders: {feed: clicks") + "schedule: also\ntrigger: {all: [orders]}\n"
    )
    assert problems({**OTHERS, FILE: text}) == [
        (
            f"{FILE}:9:17: trigger-entry: the entry 'orders' is the name of an input and a feed; "
            "say which: {input: orders} or {feed: orders}"
        )
    ]


@pytest.mark.parametrize(
    "text",
    [
        'outlets: ["https://me:hunter2@host/a"]\n',
        'inlets: ["https://host/a?password=hunter2"]\n',
        'schedule: also\ntrigger: {all: ["s3://key:hunter2@bucket/a"]}\n',
        'schedule: also\ntrigger: {all: [{uri: "s3://key:hunter2@bucket/*"}]}\n',
    ],
)
def test_a_uri_with_a_password_is_refused_without_it(text: str) -> None:
    (found,) = refused(text)
    assert "without credentials" in found
    assert "hunter2" not in found


def test_the_key_on_of_a_trigger_needs_no_quotes() -> None:
    found = process("schedule: also\ntrigger: {all: [clicks], on: [updated]}\n")
    assert found.trigger is not None
    assert found.trigger.on == (UpdateKind.UPDATED,)


def test_datasets_of_the_repo_have_their_canonical_uris() -> None:
    text = """\
datasets:
  - uri: S3A://Bucket/orders/
    description: by the shop
    owner: shop@example.com
    poll: {by: etag, every: minutes(10), settle: minutes(1)}
    sla: {updated_every: hours(1)}
    expires: days(2)
"""
    repo = repository({"repo.yaml": text})
    dataset = repo.datasets["s3://bucket/orders"]
    assert dataset.poll is not None
    assert dataset.sla is not None
    assert (dataset.poll.by, dataset.poll.every) == (PollBy.ETAG, Frequency.parse("minutes(10)"))
    assert (str(dataset.sla.updated_every), str(dataset.expires)) == ("hours(1)", "days(2)")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            'datasets: [{uri: "s3://b/x"}, {uri: "s3a://b/x/"}]\n',
            "repo.yaml:1:37: duplicate-dataset: s3a://b/x/ and s3://b/x are one dataset; keep one of them",
        ),
        ("datasets: [{uri: a}, {uri: a}]\n", "duplicate-dataset: a is there twice; keep one of them"),
        (
            'datasets: [{uri: "feedctl:feed/clicks?cluster=primary"}]\n',
            "dataset-feed: found the feed clicks, expected ",
        ),
        ("datasets: [{uri: a, poll: {by: listing}}]\n", "poll-source: data that is in no store cannot be polled: "),
        ("datasets: [{uri: a, poll: {every: hours(1)}}]\n", "missing-key: missing key 'by' in datasets[0].poll"),
        ('datasets: [{uri: "https://me:hunter2@host/a"}]\n', "bad-dataset-uri: datasets[0].uri: "),
    ],
)
def test_a_wrong_dataset_is_named(text: str, problem: str) -> None:
    (found,) = problems({"repo.yaml": text})
    assert problem in found
    assert "hunter2" not in found


def test_an_environment_lays_its_own_datasets_over_those_of_the_repo() -> None:
    texts = {
        "repo.yaml": "environments: [dev]\ndatasets: [{uri: a}]\n",
        "environments/dev.yaml": "repo: {datasets: [{uri: b}]}\n",
    }
    assert list(repository(texts, "dev").datasets) == ["b"]
    texts["environments/dev.yaml"] = "repo: {datasets: [{uri: b}, {uri: b}]}\n"
    assert ["duplicate-dataset" in each for each in problems(texts, "dev")] == [True]


def test_a_poll_by_flag_needs_a_flag() -> None:
    text = FEED + "    poll: {by: flag}\n"
    (found,) = problems({"feeds/clicks.yaml": text})
    assert "poll-source: by: flag, but the feed has no availability_flag; " in found
    assert problems({"feeds/clicks.yaml": f"{text}availability_flag: _SUCCESS\n"}) == []
