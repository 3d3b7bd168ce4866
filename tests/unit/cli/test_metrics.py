"""`feedctl metrics` over a ledger."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.unit.cli.running import Feedctl
from tests.unit.metrics.servers import free_address, tcp_listener, udp_listener
from toolkit.el import parse_instant
from toolkit.ledger.database import Ledger

SETTINGS = "repo.yaml"


def families(text: str) -> dict[str, float]:
    """The sums of all metrics, by name."""
    return {each.name: sum(sample.value for sample in each.samples) for each in text_string_to_metric_families(text)}


def with_settings(repo: Path, text: str) -> str:
    """The config repo with these settings of metrics, as `--config-repo` takes it."""
    file = repo / SETTINGS
    own = file.read_text(encoding="utf-8").replace("\nmonitoring:\n", f"\nmonitoring:\n  metrics: {text}\n")
    assert text in own
    file.write_text(own, encoding="utf-8")
    return str(repo)


@pytest.mark.usefixtures("repo", "cli_ledger")
def test_metrics_are_printed(feedctl: Feedctl) -> None:
    ran = feedctl("metrics")
    found = families(ran.out)
    assert (ran.code, ran.err, found["feedctl_up"]) == (0, "", 1)
    assert found["feedctl_entity_info"] == 8


@pytest.mark.usefixtures("repo", "cli_ledger")
def test_the_time_of_the_collection_is_the_one_that_is_given(feedctl: Feedctl) -> None:
    found = families(feedctl("metrics", "--time", "2026-01-01T00:30Z").out)
    assert found["feedctl_collected_timestamp_seconds"] == parse_instant("2026-01-01T00:30Z").timestamp()


@pytest.mark.usefixtures("repo", "cli_ledger")
def test_openmetrics_ends_with_its_mark(feedctl: Feedctl) -> None:
    assert feedctl("metrics", "--output", "openmetrics").out.endswith("# EOF\n")


@pytest.mark.usefixtures("repo", "cli_ledger")
def test_a_reader_in_a_loop_always_finds_a_whole_file(feedctl: Feedctl, tmp_path: Path) -> None:
    file = tmp_path / "feedctl.prom"
    assert feedctl("metrics", "--textfile", str(file)).out == ""
    size = len(file.read_text().splitlines())
    torn: list[str] = []
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            text = file.read_text()
            if len(text.splitlines()) != size or not text.endswith("\n"):
                torn.append(text)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for _ in range(5):
            feedctl("metrics", "--textfile", str(file))
    finally:
        is_over.set()
        reader.join()
    assert not torn
    assert [each.name for each in tmp_path.iterdir() if each.suffix not in {".db", ".db-wal", ".db-shm"}] == [file.name]


@pytest.mark.usefixtures("repo", "cli_ledger")
def test_a_link_in_the_place_of_the_file_is_replaced_and_not_followed(feedctl: Feedctl, tmp_path: Path) -> None:
    victim, file = tmp_path / "victim", tmp_path / "feedctl.prom"
    victim.write_text("kept")
    file.symlink_to(victim)
    feedctl("metrics", "--textfile", str(file))
    assert victim.read_text() == "kept"
    assert families(file.read_text())["feedctl_up"] == 1


@pytest.mark.usefixtures("repo", "cli_ledger")
def test_a_folder_that_is_not_there_is_an_error_that_names_the_file(feedctl: Feedctl, tmp_path: Path) -> None:
    file = tmp_path / "none" / "feedctl.prom"
    ran = feedctl("metrics", "--textfile", str(file))
    assert (ran.code, ran.out) == (1, "")
    assert str(file) in ran.err


@pytest.mark.usefixtures("repo")
def test_a_ledger_that_cannot_be_reached_is_a_metric_and_exit_code_1(
    feedctl: Feedctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEEDCTL_LEDGER", f"postgresql://ada@{free_address()}/ledger")
    file = tmp_path / "feedctl.prom"
    ran = feedctl("metrics", "--textfile", str(file))
    assert ran.code == 1
    assert "the ledger" in ran.err
    assert families(file.read_text()) == {"feedctl_up": 0, "feedctl_build_info": 1}


@pytest.mark.usefixtures("cli_ledger")
def test_what_is_beyond_the_bound_is_said(feedctl: Feedctl, own_repo: Path) -> None:
    ran = feedctl("metrics", "--config-repo", with_settings(own_repo, "{max_series: 15}"))
    assert ran.code == 0
    assert "series are beyond the bound" in ran.err
    assert 'entity="other"' in ran.out


@pytest.mark.usefixtures("cli_ledger")
def test_a_server_that_is_down_keeps_metrics_from_no_other(feedctl: Feedctl, own_repo: Path, tmp_path: Path) -> None:
    file = tmp_path / "feedctl.prom"
    with udp_listener() as (statsd, udp), tcp_listener() as graphite:
        settings = f"{{push_gateway: 'http://{free_address()}', statsd: '{statsd}', graphite: '{graphite.address}'}}"
        where = ("--config-repo", with_settings(own_repo, settings))
        ran = feedctl("metrics", "--push", "--textfile", str(file), *where)
        assert graphite.arrived.wait(60)
        assert udp.recv(65_536).startswith(b"feedctl_")
    assert (ran.code, ran.out) == (1, "")
    assert "the push gateway at http://" in ran.err
    assert families(file.read_text())["feedctl_up"] == 1


@pytest.mark.usefixtures("repo", "cli_ledger")
def test_a_push_without_a_server_in_the_settings_is_refused(feedctl: Feedctl) -> None:
    ran = feedctl("metrics", "--push")
    assert (ran.code, ran.out) == (2, "")
    assert "monitoring.metrics" in ran.err


@pytest.mark.usefixtures("repo")
def test_the_ledger_is_only_read(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    before = cli_ledger.read(lambda tx: tx.connection.exec_driver_sql("PRAGMA data_version").scalar())
    feedctl("metrics")
    assert cli_ledger.read(lambda tx: tx.connection.exec_driver_sql("PRAGMA data_version").scalar()) == before


@pytest.mark.usefixtures("repo", "cli_ledger")
def test_what_passes_of_the_monitor_find_late_is_counted(feedctl: Feedctl) -> None:
    for time in ("2026-03-01T00:00Z", "2026-03-02T00:00Z"):
        feedctl("monitor", "--time", time)
    text = feedctl("metrics", "--time", "2026-03-02T01:00Z").out
    found = {
        (sample.name, sample.labels.get("level", "")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.labels.get("entity", "clicks_hourly_job") == "clicks_hourly_job"
    }
    assert found["feedctl_sla_missed_total", "low"] == 25
    assert found["feedctl_sla_missed_total", "high"] == found["feedctl_alerts_open", "high"] == 24
    assert found["feedctl_instances_late", ""] == 25
    assert found["feedctl_behind_seconds", ""] == (25 * 60 + 40) * 60  # the first should have started at 23:20
    assert found["feedctl_monitor_pass_timestamp_seconds", ""] == parse_instant("2026-03-02T00:00Z").timestamp()
