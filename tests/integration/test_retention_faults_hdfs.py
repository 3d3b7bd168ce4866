"""Evictions on an HDFS whose NameNode restarts, freezes or is gone: waited out, or ended in time with all named."""

from __future__ import annotations

import time

import hdfs_native
import pytest

from tests.databases.port import reserved_port
from tests.integration.evictions import DIRECTORIES, OLD, SLOW, Eviction, codes, on_hdfs
from tests.soak.places import HdfsPlace
from tests.soak.retention_feed import Opening, run
from tests.testbed.hdfs import HdfsCluster
from toolkit.actions.hold_watch import HOLD_FILE
from toolkit.result import ExitCode
from toolkit.retention import RetentionResult
from toolkit.runs.stop import NeverStopped

pytestmark = [pytest.mark.slow, pytest.mark.extended]

_IMPATIENT = Opening(rate=SLOW.rate, patience=2)
_UNREACHABLE, _HELD = "unreachable", "held"


@pytest.fixture
def eviction(restartable_hdfs: HdfsCluster) -> Eviction:
    return on_hdfs(f"{restartable_hdfs.uri}/evictions")


def test_a_restart_of_the_name_node_in_the_middle_is_waited_out(
    restartable_hdfs: HdfsCluster, eviction: Eviction
) -> None:
    def restart() -> None:
        restartable_hdfs.stop_namenode()
        restartable_hdfs.start_namenode()

    with eviction.in_the_middle(restart):
        ended = eviction.run()
    _check_few_are_open(ended, eviction)


def test_a_name_node_that_stops_for_good_in_the_middle_ends_the_run_and_names_what_is_left(
    restartable_hdfs: HdfsCluster, eviction: Eviction
) -> None:
    with eviction.in_the_middle(restartable_hdfs.stop_namenode):
        began = time.monotonic()
        ended = eviction.run(_IMPATIENT)
    assert time.monotonic() - began < 60
    assert ended.exit_code is ExitCode.PARTIAL
    assert codes(ended).keys() == {"", _UNREACHABLE}
    assert codes(ended).total() == OLD
    restartable_hdfs.start_namenode()
    restartable_hdfs.wait_ready()
    eviction.check_partly_done()
    eviction.check_second_run()


def test_a_name_node_that_freezes_for_a_while_is_waited_for(restartable_hdfs: HdfsCluster, eviction: Eviction) -> None:
    def freeze() -> None:
        restartable_hdfs.freeze_namenode()
        time.sleep(3)
        restartable_hdfs.thaw_namenode()

    with eviction.in_the_middle(freeze):
        done = eviction.run()
    assert done.exit_code is ExitCode.DONE
    eviction.check_done()


@pytest.mark.soak
def test_a_name_node_that_is_frozen_for_longer_than_a_call_may_take_is_waited_for(
    restartable_hdfs: HdfsCluster, eviction: Eviction
) -> None:
    def freeze() -> None:
        restartable_hdfs.freeze_namenode()
        time.sleep(45)
        restartable_hdfs.thaw_namenode()

    with eviction.in_the_middle(freeze):
        ended = eviction.run()
    _check_few_are_open(ended, eviction)


def _check_few_are_open(ended: RetentionResult, eviction: Eviction) -> None:
    """A removal without an answer is not sent again and stays open for the next run; the others wait and are done."""
    assert codes(ended).keys() <= {"", _UNREACHABLE}
    assert codes(ended)[_UNREACHABLE] < OLD / 5
    eviction.check_partly_done()
    eviction.check_second_run()


def test_names_go_without_a_data_node_but_a_hold_that_cannot_be_read_keeps_all(
    restartable_hdfs: HdfsCluster,
) -> None:
    eviction = on_hdfs(f"{restartable_hdfs.uri}/evictions", DIRECTORIES, Opening(patience=2))
    assert isinstance(eviction.place, HdfsPlace)
    hold = f"{eviction.place.root}/data/{HOLD_FILE}"
    with eviction.place.client.create(hold) as file:
        file.write(b"legal wants it")
    restartable_hdfs.stop_datanode()
    ended = eviction.run()
    assert (ended.exit_code, [*ended.items]) == (ExitCode.FAILED, [])
    assert [each.plan.failed.code for each in ended.targets if each.plan.failed] == [_UNREACHABLE]
    eviction.place.client.delete(hold)
    assert eviction.place.tree() == eviction.before
    assert eviction.run().exit_code is ExitCode.DONE
    eviction.check_done()


def test_a_dead_port_fails_the_feed_in_time_and_touches_nothing(eviction: Eviction) -> None:
    with reserved_port() as port:
        place = HdfsPlace(
            f"hdfs://127.0.0.1:{port.getsockname()[1]}/evictions", hdfs_native.Client("hdfs://127.0.0.1:1")
        )
        began = time.monotonic()
        ended = run(eviction.case, place, NeverStopped(), eviction.recorder, opening=_IMPATIENT)
    assert time.monotonic() - began < 45
    assert ended.exit_code is ExitCode.FAILED
    assert [each.plan.failed.code for each in ended.targets if each.plan.failed] == [_UNREACHABLE]
    assert eviction.place.tree() == eviction.before


def test_a_hold_file_in_the_middle_stops_the_rest(hdfs_dir: str) -> None:
    eviction = on_hdfs(f"{hdfs_dir}/held")
    place = eviction.place
    assert isinstance(place, HdfsPlace)
    hold = f"{place.root}/data/{HOLD_FILE}"

    def put_on_hold() -> None:
        with place.client.create(hold):
            pass

    with eviction.in_the_middle(put_on_hold):
        ended = eviction.run()
    assert ended.exit_code is ExitCode.DONE
    assert codes(ended).keys() == {"", _HELD}
    assert codes(ended)[_HELD] > OLD / 10
    place.client.delete(hold)
    eviction.check_partly_done()
    eviction.check_second_run()
