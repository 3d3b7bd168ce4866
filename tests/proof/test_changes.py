"""Only actions change data: what the source says of every command and entrypoint, and what a run of them does."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo
from tests.proof.changes import (
    READS,
    READS_OF_METASTORE,
    changing,
    only_actions_change_data,
    opening_for_changes,
    public,
    removing_files,
    sources,
)
from toolkit.catalog.port import Metastore
from toolkit.cli.main import main
from toolkit.el import CanonicalPath
from toolkit.retention.action import RetentionAction
from toolkit.storage.errors import ReadOnlyStorage
from toolkit.storage.local.file_system import LocalFileSystem
from toolkit.storage.port import FileSystem

CHANGES = (public(FileSystem) - READS) | (public(Metastore) - READS_OF_METASTORE)
"""Methods that change data; a new method of a port counts as one until it is named among those that read."""

PORTS = ("toolkit/storage/", "toolkit/catalog/")
OF_ACTIONS = tuple(
    f"toolkit/{name}/"
    for name in (
        "actions",
        "transfer",
        "retention",
        "replication",
        "mirror",
        "hive",
        "exchange",
        "process_runner",
        "quality",
        "ingest",
        "ingest_job",
        "compaction",
    )
)
"""The kernel, its actions and their mechanisms: none of them opens a store that can be changed but those below."""

NO_DATA = {
    "toolkit/cli/delivery.py": "the result file that the user names",
    "toolkit/pages/build.py": "pages, in the folder that the user names",
    "toolkit/notify/delivery.py": "marks of messages: rows of the ledger",
    "toolkit/runs/job_calls.py": "`change_parameters` of a job: rows of the ledger",
    "toolkit/runs/ledger_recorder.py": "items of a run: rows of the ledger",
}
OPENED_FOR_CHANGES = {
    "toolkit/bootstrap/action_context.py": "the stores of a run: its guard is the hook; of a plan they are read only",
    "toolkit/bootstrap/catalogs.py": "passes on what it is asked for",
    "toolkit/bootstrap/db_import.py": "the metastore of a run: a batch binds it to the run's guard, a plan reads it",
    "toolkit/bootstrap/hive.py": "the metastore of a run, with its guard as hook",
    "toolkit/bootstrap/ingest_setup.py": "the Iceberg catalog of a feed; commits are batches of its action",
    "toolkit/bootstrap/result_store.py": "the result file that the user names",
    "toolkit/bootstrap/retention.py": "the metastore; the plan reads it, and a drop binds it to the run's guard",
    "toolkit/hive/mirror_drops.py": "binds the metastore to the run's guard, when it drops what a plan has",
    "toolkit/hive/table_import.py": "binds the metastore to the run's guard, in a batch",
    "toolkit/ingest/connection.py": "the API for callers: passes on the catalog that it is given",
    "toolkit/retention/delete_remote.py": "on an executor, for a batch that let it begin",
    "toolkit/transfer/spread_copy.py": "on an executor, for a batch that let it begin",
}
REMOVES_ITS_OWN_FILES = {
    "toolkit/bootstrap/ledger_outage.py": "its own note that the ledger cannot be used",
    "toolkit/quality/spark_validation.py": "a temporary directory with question and answer",
    "toolkit/cli/export_files.py": "an export that was not finished",
    "toolkit/config_source/entity_cache.py": "the user's cache",
    "toolkit/lineage/spool.py": "a spool of events that was sent",
    "toolkit/pages/folder.py": "a page that it has written, by its digest",
    "toolkit/migration/new_files.py": "a config repo that was not finished",
    "toolkit/plain_files.py": "a file beside the one that it replaces",
    "toolkit/programs/log_folder.py": "folders of logs",
    "toolkit/programs/hosted.py": "the answer of an application that was lost",
    "toolkit/programs/session_folder.py": "directories of this user's applications, of living runners their own alone",
    "toolkit/programs/spark_sql.py": "a step's own files",
    "toolkit/programs/step_log.py": "the note of a step that has ended",
    "toolkit/programs/supervisor.py": "a step's own files",
}
MUTANT = """
def show(system, path, *, metastore, name):
    {}
"""


@cache
def _sources() -> Mapping[str, str]:
    return sources()


def _outside(found: set[str]) -> set[str]:
    return {module for module in found if not module.startswith(PORTS)}


def test_no_command_or_entrypoint_calls_what_changes_data_itself() -> None:
    found = {module for module in _outside(changing(_sources(), CHANGES)) if not module.startswith(OF_ACTIONS)}
    assert found == set(NO_DATA)


def test_a_store_that_can_be_changed_is_opened_with_the_guard_of_a_run_only() -> None:
    assert _outside(opening_for_changes(_sources())) == set(OPENED_FOR_CHANGES)


def test_files_of_this_machine_are_removed_by_their_owner_only() -> None:
    assert _outside(removing_files(_sources())) == set(REMOVES_ITS_OWN_FILES)


@pytest.mark.parametrize(
    "line",
    [
        "system.delete(path, below=path.parent)",
        "list(system.delete_all([path], below=path.parent))",
        "system.write(path, [b'x'])",
        "system.rename(path, path.child('x'))",
        "system.set_owner(path, owner='me')",
        "metastore.drop_partitions(name, ['ds=1'])",
    ],
)
def test_a_command_that_changed_data_would_be_found(line: str) -> None:
    assert changing({"toolkit/cli/status.py": MUTANT.format(line)}, CHANGES) == {"toolkit/cli/status.py"}


@pytest.mark.parametrize("line", ["partial(open_catalog, cluster)", "open_file_system(spec)", "stores.bound(check)"])
def test_a_command_that_opened_a_store_for_changes_would_be_found(line: str) -> None:
    assert opening_for_changes({"toolkit/cli/status.py": MUTANT.format(line)}) == {"toolkit/cli/status.py"}


def _evicting(directory: Path) -> Repo:
    repo = Repo.make(directory)
    repo.fill("2026/03/01", 3)
    return repo


def test_an_eviction_changes_data_in_its_batches_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = _evicting(tmp_path)
    with only_actions_change_data(monkeypatch) as changes:
        assert run_here(repo, "--feed", "clicks", "--dry-run") == 0
        assert main(["instance", "list", "clicks", "--config-repo", str(repo.path)]) == 0
        assert changes == []
        assert run_here(repo, "--feed", "clicks") == 0
        assert changes
    assert repo.tree() == ["clicks"]


def test_a_change_outside_an_action_fails_the_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = CanonicalPath.parse(f"file://{tmp_path}/made")
    with (
        pytest.raises(AssertionError, match="in a batch or a recovery of an Action only"),
        only_actions_change_data(monkeypatch),
    ):
        LocalFileSystem().mkdirs(path)


def test_a_plan_that_changed_data_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo, plan = _evicting(tmp_path), RetentionAction.plan
    before, refused = repo.tree(), list[ReadOnlyStorage]()

    def mutant(action: RetentionAction, target: object, work: object) -> object:
        made = plan(action, target, work)  # type: ignore[arg-type]
        try:
            item = made.items[0]
            work.stores(item.path).delete(item.path, below=item.path.parent)  # type: ignore[attr-defined]
        except ReadOnlyStorage as error:
            refused.append(error)
        return made

    monkeypatch.setattr(RetentionAction, "plan", mutant)
    assert run_here(repo, "--feed", "clicks", "--dry-run") == 0
    assert (len(refused), repo.tree()) == (1, before)
    assert run_here(repo, "--feed", "clicks") == 0
    assert len(refused) == 2, "also where the plan is going to be applied"
