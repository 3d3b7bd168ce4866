"""The ingest entrypoint on a topic of a real broker, into a real Iceberg table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.e2e.kafka_site import TopicRepo
from tests.e2e.test_compact import events
from tests.testbed.kafka_broker import KafkaBroker

pytestmark = [pytest.mark.extended, pytest.mark.slow]


@pytest.fixture
def repo(tmp_path: Path, kafka: KafkaBroker) -> TopicRepo:
    """A repo whose feed reads a topic."""
    return TopicRepo.on(tmp_path, kafka)


def test_a_topic_is_committed_once_up_to_its_end_and_its_instances_close(repo: TopicRepo) -> None:
    repo.put("0", ["a", "b", "c"])
    repo.broker.send(repo.topic, b"{broken", None, partition=1)
    producer = Producer({**repo.broker.settings, "transactional.id": repo.topic})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(repo.topic, b'{"ts": "2026-03-20T00:30:00Z", "word": "open"}', partition=1)
    producer.flush()
    assert repo.run("--dry-run")["exit"] == 0
    assert not (repo.root / "warehouse").exists()
    first = repo.run()
    assert (first["exit"], repo.words) == (0, Counter("abc"))
    rejects = next((repo.root / "working/rejects/clicks").iterdir()).read_text().splitlines()
    assert len(rejects) == 2
    again = repo.run()
    assert (again["exit"], again["items"]) == (0, [])
    producer.commit_transaction()
    deadline = time.monotonic() + 60
    while "open" not in repo.words:  # the broker marks the partition as committed a moment after it has said so
        assert time.monotonic() < deadline
        assert repo.run()["exit"] == 0
    assert repo.words == Counter(["a", "b", "c", "open"])
    assert repo.run(action="compact", at="2026-03-20T01:15Z")["exit"] == 0
    assert events(repo) == [("available", "2026-03-20T00:00Z")]


def test_a_run_that_is_killed_between_commits_is_gone_on_from(repo: TopicRepo) -> None:
    expected = _many(repo)
    for _ in range(2):
        before = repo.progress()
        with repo.start() as process:
            _wait(partial(repo.has_moved, before))
            process.kill()
            process.communicate()
    assert repo.run()["exit"] == 0
    assert repo.words == expected


def _many(repo: TopicRepo) -> Counter[str]:
    """Send what makes many commits."""
    words = [f"word{at}" for at in range(600)]
    repo.put("0", words[:400])
    repo.put("1", words[400:])
    return Counter(words)


def _wait(is_so: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.02)
