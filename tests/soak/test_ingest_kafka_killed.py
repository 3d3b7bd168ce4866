"""Ingests of a Kafka topic that are killed at random moments, and whose broker is."""

from __future__ import annotations

import os
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.kafka_site import TopicRepo
from tests.soak.chance import seeded
from tests.testbed.kafka_broker import KafkaBroker
from tests.testbed.waiting import becomes_true

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]
ROUNDS = int(os.environ.get("FEEDCTL_ROUNDS") or 100)


@pytest.fixture
def repo(tmp_path: Path, kafka: KafkaBroker) -> TopicRepo:
    """A repo whose feed reads a topic."""
    return TopicRepo.on(tmp_path, kafka)


def test_records_are_in_the_table_once_after_many_kills_of_runs_and_brokers(repo: TopicRepo) -> None:
    chance, expected, midway = seeded(), Counter[str](), 0
    for number in range(ROUNDS):
        for partition in "01":
            own = [f"{number}-{partition}-{each}" for each in range(chance.randint(1, 100))]
            repo.put(partition, own)
            expected.update(own)
        with repo.start() as process:
            time.sleep(chance.uniform(1, 6))
            if chance.random() < 0.2:
                repo.broker.stop()
                time.sleep(chance.uniform(0, 3))
                repo.broker.start()
            midway += process.poll() is None
            process.kill()
            process.communicate()
        if chance.random() < 0.2:
            assert repo.run()["exit"] == 0
            assert repo.words == expected, f"round {number}"
    assert repo.run()["exit"] == 0
    print(f"{ROUNDS} runs, {midway} killed at work; {expected.total()} records")  # noqa: T201
    assert repo.words == expected
    assert midway


def test_a_broker_that_is_away_is_an_error_and_one_that_comes_back_in_the_middle_is_none(repo: TopicRepo) -> None:
    words = [f"word{at}" for at in range(600)]
    repo.put("0", words[:400])
    repo.put("1", words[400:])
    repo.broker.stop()
    away = repo.run()
    assert (away["exit"], repo.progress()) == (1, "")
    assert "no answer within 30 s" in str(away)
    repo.broker.start()
    with repo.start() as process:
        assert becomes_true(partial(repo.has_moved, ""), seconds=60)
        repo.broker.stop()
        repo.broker.start()
        process.communicate(timeout=120)
    assert (process.returncode, repo.words) == (0, Counter(words))
    assert repo.run()["items"] == []
