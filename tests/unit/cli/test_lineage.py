"""`feedctl lineage`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.contract.ledger.samples import begun, key
from tests.unit.cli.running import Feedctl
from tests.unit.config_source.checkouts import git
from toolkit.cli import lineage_graph
from toolkit.ledger.column_lineage import ColumnRelation, LineageNode, StatementLineage, record
from toolkit.ledger.database import Ledger
from toolkit.ledger.vocabulary import LineageRelationKind
from toolkit.lineage.spool import Spool

JSON = ("--output", "json")


@pytest.mark.usefixtures("repo")
def test_an_entity_is_shown_up_and_down(feedctl: Feedctl) -> None:
    ran = feedctl("lineage", "entity", "clicks_hourly")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "feed clicks_hourly"
    assert "  has owner web-analytics@example.com" in lines
    up, down = lines.index("upstream"), lines.index("downstream")
    assert lines[up + 1 : down] == [
        "  <- written by process clicks_hourly_job (link: output, cluster: primary, outputs: counts)",
        "    <- reads feed clicks (link: input, cluster: primary, inputs: clicks)",
    ]
    assert lines[down + 1].startswith("  -> read by process clicks_by_country_job (")
    assert "upstream" not in feedctl("lineage", "entity", "clicks_hourly", "--down").out
    assert "downstream" not in feedctl("lineage", "entity", "clicks_hourly", "--up").out


@pytest.mark.usefixtures("repo")
def test_options_choose_the_part_and_its_format(feedctl: Feedctl) -> None:
    document = feedctl("lineage", "entity", "clicks", "--down", "--depth", "2", *JSON).document
    flows = {each["target"] for each in document["edges"] if each["kind"] in {"consumes", "produces"}}
    assert document["start"] == ["feed:clicks"]
    assert flows == {"process:clicks_hourly_job", "process:customer_activity_job", "feed:clicks_hourly"}
    only = feedctl("lineage", "entity", "clicks", "--only", "feeds", *JSON).document
    assert {each["kind"] for each in only["nodes"]} == {"feed", "table"}
    assert {"through": "clicks_hourly_job"} in [each["facts"] for each in only["edges"]]
    mermaid = feedctl("lineage", "entity", "clicks", "--format", "mermaid").out
    assert mermaid.startswith("flowchart LR\n")
    assert "pipeline" not in mermaid
    assert feedctl("lineage", "entity", "clicks", "--output", "dot").out.startswith("digraph lineage {\n")
    whole = feedctl("lineage", "entity", *JSON).document
    assert {"feed:impressions", "feed:clicks"} < {each["id"] for each in whole["nodes"]}
    ended = feedctl("lineage", "entity", "clicks", "--time", "2000-01-01T00:00Z")
    assert (ended.code, "clicks" in ended.err) == (2, True)


@pytest.mark.usefixtures("repo")
def test_a_cut_is_said_aloud(feedctl: Feedctl) -> None:
    ran = feedctl("lineage", "entity", "clicks", "--down", "--limit", "2", *JSON)
    assert ran.document["cut_at"] == ["feed:clicks"]
    assert ran.err == "feedctl: cut at --limit 2: 1 vertices have further edges\n"


@pytest.mark.usefixtures("repo")
def test_a_flowchart_that_mermaid_does_not_draw_is_said_aloud(
    feedctl: Feedctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lineage_graph, "_MERMAID_EDGES", 3)
    ran = feedctl("lineage", "entity", "clicks", "--down", "--output", "mermaid")
    assert ran.out.startswith("flowchart LR\n")
    assert "edges; Mermaid draws 3 unless maxEdges is raised" in ran.err
    assert feedctl("lineage", "entity", "clicks", "--down", "--output", "dot").err == ""


@pytest.mark.usefixtures("repo")
def test_a_name_that_nothing_has_is_refused(feedctl: Feedctl) -> None:
    ran = feedctl("lineage", "entity", "click")
    assert ran.code == 2
    assert "did you mean clicks" in ran.err


@pytest.fixture
def checkout(template_repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout whose first commit is on `main`."""
    repo = tmp_path / "repo"
    shutil.copytree(template_repo, repo)
    shutil.rmtree(repo / ".git", ignore_errors=True)
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message=first")
    monkeypatch.setenv("FEEDCTL_REPO", str(repo))
    return repo


def test_what_a_change_adds_and_cuts_is_shown(checkout: Path, feedctl: Feedctl) -> None:
    assert feedctl("lineage", "entity", "--against", "main").out == ""
    file = next(checkout.glob("processes/**/clicks_hourly_job.yaml"))
    text = file.read_text()
    assert "feed: clicks," in text
    file.write_text(text.replace("feed: clicks,", "feed: impressions,", 1))
    ran = feedctl("lineage", "entity", "clicks_hourly_job", "--up", "--against", "main")
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert "- feed clicks read by process clicks_hourly_job (link: input, cluster: primary, inputs: clicks)" in lines
    assert (
        "+ feed impressions read by process clicks_hourly_job (link: input, cluster: primary, inputs: clicks)" in lines
    )
    document = feedctl("lineage", "entity", "--against", "main", *JSON).document
    assert [each["facts"]["change"] for each in document["edges"]] == ["cut", "added"]
    assert "added consumes" in feedctl("lineage", "entity", "--against", "main", "--output", "mermaid").out
    assert feedctl("lineage", "entity", "--against", "nowhere").code == 2


@pytest.mark.usefixtures("repo")
def test_a_column_is_shown_with_what_it_is_computed_from(feedctl: Feedctl, cli_ledger: Ledger) -> None:
    relation = ColumnRelation(
        source=LineageNode(table="web.raw", column="amount"),
        target=LineageNode(table="web.sums", column="total"),
        kind=LineageRelationKind.AGGREGATE,
    )
    statement = StatementLineage.of("INSERT", "INSERT INTO web.sums SELECT SUM(amount) total FROM web.raw", [relation])
    executed = begun(cli_ledger, key("2026-03-20T05:00Z"))
    cli_ledger.write(lambda tx: record(tx, [statement], executed.run_id))
    ran = feedctl("lineage", "column", "web.SUMS.total", "--up", "--depth", "1")
    assert ran.code == 0
    lines = [line.partition(" (")[0] for line in ran.out.splitlines()]
    assert lines == ["column web.sums.total", "upstream", "  <- aggregate of column web.raw.amount", *lines[3:]]
    document = feedctl("lineage", "column", "web.raw.amount", "--down", *JSON).document
    assert (document["start"], document["nodes"][-1]["id"]) == (["column:web.raw.amount"], "column:web.sums.total")
    assert feedctl("lineage", "column", "web.raw.nothing").code == 2


TIME = "2026-03-20T05:00Z"


@pytest.fixture
def copied_by_hand(feedctl: Feedctl) -> None:
    """Data of a feed and of what a process makes from it are there, and no run is recorded."""
    for feed in ("clicks", "clicks_hourly"):
        assert feedctl("event", "emit", f"feedctl:feed/{feed}?cluster=primary", "--time", TIME).code == 0


@pytest.mark.usefixtures("repo", "cli_ledger", "copied_by_hand")
def test_an_instance_is_shown_with_its_runs(feedctl: Feedctl) -> None:
    ran = feedctl("lineage", "instance", "clicks_hourly", "--time", TIME)
    assert ran.out.splitlines() == [
        "instance clicks_hourly on primary 2026-03-20T05:00Z (state: available)",
        "upstream",
        "  <- written by run clicks_hourly_job on primary 2026-03-20T06:00Z (inferred: true)",
        "    <- reads instance clicks on primary 2026-03-20T05:00Z (state: available) (input: clicks)",
    ]
    of = ("clicks", "--key", TIME, "--cluster", "primary")
    document = feedctl("lineage", "instance", *of, "--only", "feeds", *JSON).document
    assert document["start"] == ["instance:clicks@primary/2026-03-20T05:00Z"]
    assert [(each["source"], each["target"]) for each in document["edges"]] == [
        (document["start"][0], "instance:clicks_hourly@primary/2026-03-20T05:00Z")
    ]
    both = feedctl("lineage", "instance", "clicks", "--time", TIME, *JSON).document
    assert [each.partition("@")[2][:6] for each in both["start"]] == ["primar", "backup"]
    assert feedctl("lineage", "instance", "nothing", "--time", TIME).code == 2


@pytest.mark.usefixtures("repo", "cli_ledger", "copied_by_hand")
def test_a_path_is_that_of_its_instance(feedctl: Feedctl) -> None:
    ran = feedctl("lineage", "path", "/data/clicks_hourly/2026-03-20/05/part-0", "--up", "--depth", "1")
    assert ran.out.splitlines() == [
        "instance clicks_hourly on primary 2026-03-20T05:00Z (state: available)",
        "upstream",
        "  <- written by run clicks_hourly_job on primary 2026-03-20T06:00Z (inferred: true)",
    ]
    refused = feedctl("lineage", "path", "/elsewhere")
    assert (refused.code, "found '/elsewhere'" in refused.err) == (2, True)


@pytest.mark.usefixtures("repo", "cli_ledger", "copied_by_hand")
def test_the_impact_of_an_instance_has_the_commands_that_make_it_again(feedctl: Feedctl) -> None:
    again = "feedctl backfill clicks_hourly_job --start 2026-03-20T06:00Z --cluster primary --only all --force"
    assert feedctl("lineage", "impact", "clicks", "--key", TIME, "--format", "commands").out == f"{again}\n"
    text = feedctl("lineage", "impact", "clicks", "--time", TIME, "--cluster", "primary").out
    assert text.startswith(
        "clicks on primary 2026-03-20T05:00Z: 1 instances were made from it, 1 of them are still there"
    )
    assert text.endswith(f"in this order, once the instance is good:\n  {again}\n")
    (found,) = feedctl("lineage", "impact", "clicks", "--time", TIME, "--cluster", "primary", *JSON).document["impacts"]
    assert (found["affected"][0]["feed"], found["affected"][0]["is_there"]) == ("clicks_hourly", True)
    assert (found["commands"], found["is_complete"]) == ([again.split()], True)
    cut = feedctl("lineage", "impact", "clicks", "--time", TIME, "--cluster", "primary", "--limit", "1", *JSON)
    assert cut.document["impacts"][0]["is_complete"] is False
    assert "cut at --limit 1" in cut.err


@pytest.mark.usefixtures("repo")
def test_events_of_openlineage_are_about_the_entities_of_a_graph(feedctl: Feedctl) -> None:
    lines = feedctl("lineage", "entity", "clicks_hourly_job", "--up", "--output", "openlineage").out.splitlines()
    events = [json.loads(line) for line in lines]
    assert [each["job"]["name"] for each in events if "job" in each] == ["clicks_hourly_job"]
    assert [each for each in events if "dataset" in each]


def test_events_that_wait_are_sent(own_repo: Path, feedctl: Feedctl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEEDCTL_REPO", str(own_repo))
    monkeypatch.setenv("FEEDCTL_LEDGER", f"sqlite:///{own_repo.parent}/ledger.db")
    refused = feedctl("lineage", "ship")
    assert (refused.code, "transport" in refused.err) == (2, True)
    with (own_repo / "repo.yaml").open("a") as file:
        file.write("lineage: {openlineage: {transport: file}}\n")
    Spool(own_repo.parent / "openlineage").append(b'{"eventType": "COMPLETE"}')
    assert feedctl("lineage", "ship").out == "1 events sent, 0 refused\n"
    assert feedctl("lineage", "ship", *JSON).document == {"schema_version": 1, "sent": 0, "refused": 0, "failure": None}
    assert (own_repo.parent / "openlineage.jsonl").read_text() == '{"eventType": "COMPLETE"}\n'


@pytest.mark.usefixtures("repo")
@pytest.mark.parametrize("options", [(), ("clicks", "--only", "processes")])
def test_a_cut_of_all_entities_or_at_one_that_is_not_shown_is_said_aloud(
    feedctl: Feedctl, options: tuple[str, ...]
) -> None:
    assert "cut at --limit 1" in feedctl("lineage", "entity", *options, "--limit", "1").err


@pytest.mark.usefixtures("repo", "cli_ledger")
@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--time", "2026-03-01T00:07Z"), "2026-03-01T00:07Z"),
        (("--time", TIME, "--cluster", "primry"), f"{TIME} on primry"),
    ],
)
def test_an_instance_that_neither_feed_nor_ledger_has_is_refused(
    feedctl: Feedctl, options: tuple[str, ...], found: str
) -> None:
    for command in ("impact", "instance"):
        refused = feedctl("lineage", command, "clicks", *options)
        assert refused.code == 2
        assert found in refused.err
        assert "an instance of feed clicks" in refused.err


@pytest.mark.usefixtures("repo", "cli_ledger")
def test_an_instance_that_the_ledger_has_never_met_is_said_aloud(feedctl: Feedctl) -> None:
    shown = feedctl("lineage", "impact", "clicks", "--time", TIME)
    assert "has no run and no event of clicks" in shown.err
