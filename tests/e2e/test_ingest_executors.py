"""`ingest.py --engine spark` on real executors and a real Iceberg table."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.iceberg_site import IngestRepo, QuickRepo
from toolkit.compaction.planner import transaction_of

pytestmark = pytest.mark.slow
SPARK = ("--engine", "spark")
CRASH = """\
import os, signal, sys
if "pyspark.daemon" in sys.orig_argv:
    from toolkit.ingest import iceberg_files
    written_file = iceberg_files.written_file
    def crash(*args):
        try:
            os.close(os.open({marker!r}, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return written_file(*args)
        os.kill(os.getpid(), signal.SIGKILL)
    iceberg_files.written_file = crash
"""
MERGE_ON_EXECUTORS = """\
import os, sys
if "pyspark.daemon" in sys.orig_argv:
    from toolkit.ingest.iceberg_merge import IcebergFileMerge
    written = IcebergFileMerge.written
    def written_here(self):
        open({marker!r}, "a").close()
        return written(self)
    IcebergFileMerge.written = written_here
else:
    import toolkit.compaction.action
    toolkit.compaction.action.SPREAD_BYTES = 0
"""


def make(root: Path, java_home: Path, *, master: str = "local[2]", **environment: str) -> IngestRepo:
    known = {"JAVA_HOME": str(java_home), "SPARK_LOCAL_IP": "127.0.0.1", **environment}
    return replace(QuickRepo.make(root), master=master, environment=known)


def append(repo: IngestRepo, name: str, line: str) -> None:
    path = repo.root / "inbox" / name
    with path.open("a") as file:
        file.write(line)
    os.utime(path, (time.time() - 3600,) * 2)


def data_files(root: Path) -> int:
    return len(list((root / "warehouse").rglob("*.parquet")))


def left_over(repo: IngestRepo) -> list[str]:
    catalog = repo.catalog()
    try:
        return [Path(each.uri).name for each in catalog.open("web", "clicks").unreferenced() if each.is_data]
    finally:
        catalog.close()


def test_executors_commit_a_backlog_once_with_rejects_and_put_it_away(tmp_path: Path, java_home: Path) -> None:
    repo, words = make(tmp_path, java_home), [f"word{at}" for at in range(500)]
    for at in range(0, 500, 50):
        repo.put(f"{at:03}.json", words[at : at + 50])
    append(repo, "100.json", "{broken\n")
    done = repo.run(*SPARK)
    assert done["exit"] == 0, done
    assert (repo.words, list((tmp_path / "inbox").iterdir())) == (Counter(words), [])
    (reject,) = map(json.loads, next((tmp_path / "working/rejects/clicks").iterdir()).read_text().splitlines())
    assert (reject["record"], reject["position"], reject["unit"][-8:]) == ("{broken", 51, "100.json")
    again = {each["kind"] for each in replace(repo, master="").run()["items"]}
    assert (left_over(repo), again - {"watermark"}) == ([], set())  # it is noted once a minute


@pytest.mark.extended
def test_a_file_that_fails_leaves_the_others_committed_and_executors_need_spark_submit(
    tmp_path: Path, java_home: Path
) -> None:
    repo = make(tmp_path, java_home)
    feed = tmp_path / "repo" / "feeds" / "clicks.yaml"
    feed.write_text(feed.read_text().replace("on_bad_record: reject", "on_bad_record: fail"))
    for name in ("a", "b", "c"):
        repo.put(f"{name}.json", [f"{name}{at}" for at in range(30)])
    append(repo, "b.json", "{broken\n")
    for option in ("--stdin", "--dry-run"):
        with replace(repo, master="").start(*SPARK, option) as refused:
            assert (b"spark" in refused.communicate(timeout=120)[1], refused.returncode) == (True, 2)
    assert (repo.run("--dry-run", *SPARK)["exit"], (tmp_path / "warehouse").exists()) == (0, False)
    done = repo.run(*SPARK)
    (failed,) = [each for each in done["items"] if each["outcome"] == "failed"]
    assert (done["exit"], failed["code"], failed["unit"][-6:]) == (4, "bad_records", "b.json")
    assert "record at 31" in failed["message"]
    assert repo.words == Counter(f"{name}{at}" for name in "ac" for at in range(30))
    assert ([each.name for each in (tmp_path / "inbox").iterdir()], left_over(repo)) == (["b.json"], [])


@pytest.mark.extended
def test_executors_merge_the_files_of_instances_that_close(tmp_path: Path, java_home: Path) -> None:
    (tmp_path / "spread").mkdir()
    (tmp_path / "spread" / "sitecustomize.py").write_text(MERGE_ON_EXECUTORS.format(marker=str(tmp_path / "merged")))
    repo = make(tmp_path, java_home, master="", PYTHONPATH=str(tmp_path / "spread"))
    words = [f"word{at}" for at in range(90)]
    repo.put("a.json", words)
    assert repo.run()["exit"] == 0
    before = data_files(tmp_path)
    done = replace(repo, master="local[2]").run(action="compact")
    assert (done["exit"], [each["kind"] for each in done["items"]]) == (0, ["merge"] * 4 + ["close"] * 4)
    assert (repo.words, (tmp_path / "merged").exists()) == (Counter(words), True)
    table = repo.catalog().open("web", "clicks")
    assert (len(table.files()), data_files(tmp_path) - before) == (4, 4)


@pytest.mark.extended
def test_a_task_whose_python_dies_is_tried_again_and_its_file_is_left_over(tmp_path: Path, java_home: Path) -> None:
    (tmp_path / "crash").mkdir()
    (tmp_path / "crash" / "sitecustomize.py").write_text(CRASH.format(marker=str(tmp_path / "crashed")))
    repo = make(tmp_path, java_home, master="local[2,3]", PYTHONPATH=str(tmp_path / "crash"))
    words = [f"word{at}" for at in range(100)]
    for at in range(0, 100, 25):
        repo.put(f"{at:03}.json", words[at : at + 25])
    assert repo.run(*SPARK)["exit"] == 0
    assert (repo.words, (tmp_path / "crashed").exists(), len(left_over(repo))) == (Counter(words), True, 1)
    assert transaction_of(left_over(repo)[0]) is not None


@pytest.mark.parametrize(
    ("kills", "files"),
    [pytest.param(1, 60, marks=pytest.mark.soak), pytest.param(3, 200, marks=pytest.mark.soak)],
)
def test_drivers_that_are_killed_leave_each_record_in_the_table_once(
    tmp_path: Path, java_home: Path, kills: int, files: int
) -> None:
    seed = int(os.environ.get("FEEDCTL_SEED", random.randrange(1 << 30)))  # noqa: S311 - no secret
    print(f"seed {seed}")  # noqa: T201 - to repeat it
    chance, repo = random.Random(seed), make(tmp_path, java_home)  # noqa: S311 - no secret
    words = [f"word{at}" for at in range(200 * files)]
    for at in range(0, len(words), 200):
        repo.put(f"{at:05}.json", words[at : at + 200])
    for _ in range(kills):
        with repo.start(*SPARK) as process:
            end, before = time.monotonic() + 60, data_files(tmp_path)
            while data_files(tmp_path) == before and process.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
            time.sleep(chance.uniform(0.0, 1.0))
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    print(f"{data_files(tmp_path)} data files")  # noqa: T201 - shows that kills came in the middle
    results = (repo.run(*SPARK)["exit"] for _ in range(3))
    assert 0 in results
    assert (repo.words, list((tmp_path / "inbox").iterdir())) == (Counter(words), [])
