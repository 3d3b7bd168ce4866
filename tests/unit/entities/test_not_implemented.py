"""Every word of a closed set works, is refused aloud, or waits for an action that cannot be started."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from tests.unit.entities.config_repo import CLUSTER, FEED, repository
from toolkit.entities import trigger_vocabulary, vocabulary
from toolkit.entities.not_implemented import (
    STORES_WITHOUT_ADAPTER,
    WITHOUT_ACTION,
    not_evictable,
)
from toolkit.errors import NotImplementedYet
from toolkit.storage import StorageSpec, open_file_system

TABLE = (
    (Path(__file__).parents[3] / "docs" / "reference" / "entities.md")
    .read_text(encoding="utf-8")
    .partition("## Not implemented yet")[2]
)

WORK = {
    vocabulary.ClusterRole: {"source", "target"},
    vocabulary.OnSourceDelete: {"keep", "delete"},
    vocabulary.GoneAtSource: {"keep", "quarantine", "delete"},
    vocabulary.OnMissingSnapshot: {"refuse", "full"},
    vocabulary.ExpiryAction: {"delete", "archive", "quarantine"},
    vocabulary.RetentionType: {"instance"},
    vocabulary.RetentionPolicy: {"age_based_delete"},
    vocabulary.ProtectionName: {"late_window", "unread_batches", "unreplicated", "unread_consumers"},
    vocabulary.FirstRun: {"apply", "plan"},
    vocabulary.DeployMode: {"client", "cluster"},
    vocabulary.Prepare: {"delete"},
    vocabulary.Order: {"FIFO", "LIFO", "LAST_ONLY"},
    vocabulary.Engine: {"spark_submit", "spark_sql", "command", "mirror"},  # each type of mirrors is refused by itself
    vocabulary.SparkSessionUse: {"shared", "own"},
    vocabulary.RetryPolicy: {"periodic", "backoff", "exp_backoff"},
    vocabulary.LatePolicy: {"periodic", "backoff", "exp_backoff", "final"},
    vocabulary.LintLevel: {"error", "warning", "info", "off"},
    vocabulary.OnFailure: {"block", "warn"},
    vocabulary.DataFormat: {"parquet", "orc", "json", "csv"},
    vocabulary.ExpectationSeverity: {"critical", "warning", "info"},
    trigger_vocabulary.ScheduleMode: {"only", "also", "and", "never"},
    trigger_vocabulary.GroupBy: {"key", "any_update"},
    vocabulary.NotificationLevel: {"attempt", "instance"},
    trigger_vocabulary.UpdateKind: {"available", "updated"},
    trigger_vocabulary.Coalesce: {"none", "latest", "all", "range"},
    trigger_vocabulary.StartFrom: {"now", "earliest"},
    trigger_vocabulary.OnPause: {"keep", "drop"},
    trigger_vocabulary.Emit: {"on_change", "always"},
    trigger_vocabulary.OutputScope: {"series", "run"},
    vocabulary.ExtractType: {"full", "incremental"},
    vocabulary.MergePolicy: {"snapshot", "append"},
    vocabulary.SchemaChangePolicy: {"fail", "add", "ignore"},
    vocabulary.ImportVerification: {"count", "none"},
    vocabulary.LoadType: {"updateonly", "allowinsert", "replace"},
    trigger_vocabulary.PollBy: {"listing", "etag", "mtime", "digest", "flag"},
}
"""What an action, the queue or the linter does, by its closed set."""

WAIT = {
    vocabulary.DatasourceType: "datasources",
}
"""Closed sets of what no entrypoint does, with the words that the reference has for them."""

NAMES = {vocabulary.Kind, vocabulary.LocationType}
"""These name parts of the repo and ask for nothing."""


def _closed_sets() -> Iterator[type[StrEnum]]:
    for each in (*vars(vocabulary).values(), *vars(trigger_vocabulary).values()):
        if isinstance(each, type) and issubclass(each, StrEnum) and each is not StrEnum:
            yield each


@pytest.mark.parametrize(
    "words", [each for each in _closed_sets() if each not in NAMES], ids=lambda each: each.__name__
)
def test_every_word_works_or_is_in_the_table_of_what_does_not(words: type[StrEnum]) -> None:
    refused = {word for word in words if word in WITHOUT_ACTION}
    if words in WAIT:
        assert WAIT[words] in TABLE
    else:
        assert set(words) - refused == WORK[words]
    assert all(f"`{word}`" in TABLE for word in refused)


@pytest.mark.parametrize("scheme", sorted(STORES_WITHOUT_ADAPTER))
def test_a_store_that_the_linter_refuses_cannot_be_opened(scheme: str) -> None:
    with pytest.raises(NotImplementedYet):
        open_file_system(StorageSpec(scheme=scheme, authority="all"))
    assert f"`{scheme}`" in TABLE


@pytest.mark.parametrize(
    ("place", "found"),
    [
        ("/data/clicks", ["storage viewfs://all"]),
        ("hdfs://nn1:8020/data/clicks", []),
        ("ofs://om/data", ["storage ofs://om"]),
    ],
)
def test_the_store_of_the_cluster_counts_only_for_what_lies_on_it(place: str, found: list[str]) -> None:
    files = {
        "clusters/primary.yaml": CLUSTER.replace("file:///", "viewfs://all"),
        "feeds/clicks.yaml": FEED.replace("/data/clicks", place),
    }
    repo = repository(files)
    assert [each.value for each in not_evictable(repo.feed("clicks"), repo.clusters["primary"])] == found
