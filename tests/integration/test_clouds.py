"""Evictions and replications of path feeds on Google Cloud Storage and Azure, through the entrypoints."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.e2e.in_process import run_here
from tests.e2e.retention_process import Repo
from tests.integration.replications import DUE, KEYS, End, Replication, hour, outcomes
from tests.integration.test_replication_stores import check, local
from tests.testbed.azure_server import ACCOUNT
from tests.testbed.cloud_places import CloudPlace
from tests.testbed.faults import Seen

pytestmark = [pytest.mark.slow, pytest.mark.extended, pytest.mark.timeout(900)]

CLUSTER = """\
kind: cluster
name: primary
interfaces: {{write: {{endpoint: "{endpoint}"}}}}
"""


@pytest.fixture(params=["gcs", "azure"])
def place(request: pytest.FixtureRequest) -> CloudPlace:
    """A new bucket of each."""
    found: CloudPlace = request.getfixturevalue(f"on_{request.param}")
    return found


def uri(place: CloudPlace, directory: str = "") -> str:
    """Return the URI, as the owner of a feed writes it."""
    if place.spec.scheme == "gs":
        return f"gs://{place.bucket}{directory}"
    return f"wasbs://{place.bucket}@{ACCOUNT}.blob.core.windows.net{directory}"


def names(seen: list[Seen], top: str) -> list[str]:
    """The names below a directory that requests were about, in their order."""
    output = (unquote(f"{each.path}?{each.query}") for each in seen)
    return [each.partition(f"{top}/")[2].partition("&")[0].partition("?")[0] for each in output if f"{top}/" in each]


def test_old_instances_of_a_path_feed_go_with_their_flag_first(place: CloudPlace, tmp_path: Path) -> None:
    repo = Repo.make(tmp_path)
    repo.write("clusters/primary.yaml", CLUSTER.format(endpoint=uri(place)))
    feed = (repo.path / "feeds/clicks.yaml").read_text()
    repo.write("feeds/clicks.yaml", f"{feed}availability_flag: _SUCCESS\n")
    old, young = "clicks/2026/03/01/00", "clicks/2026/03/19/00"
    for minute in range(3):
        for directory in (old, young):
            place.put(*(f"{directory}/{minute:02}/{name}" for name in ("_SUCCESS", "a", "z/", "z/part")))
    place.put("clicks/notes", f"{old}-kept", "other/file")
    before = place.keys()
    assert run_here(repo, "--feed", "clicks", "--dry-run") == 0
    assert place.keys() == before
    place.proxy.clear()
    assert run_here(repo, "--feed", "clicks") == 0
    assert place.keys() == [key for key in before if not key.startswith(f"{old}/")]
    removed = names(place.proxy.seen(method="DELETE"), old)
    for instance in ("00/", "01/", "02/"):
        of_instance = [name.partition("/")[2] for name in removed if name.startswith(instance)]
        assert of_instance[0] == "_SUCCESS"
        assert {"a", "z/", "z/part"} < set(of_instance)
    assert run_here(repo, "--feed", "clicks") == 0


def test_instances_are_replicated_with_their_flag_last(place: CloudPlace, tmp_path: Path) -> None:
    source = local(tmp_path / "from")
    copying = Replication(directory=tmp_path, sources={"primary": source}, target=End(uri=uri(place, "/copies")))
    source.fill({name: content for number in range(DUE) for name, content in hour(number).items()})
    code, result = copying.run()
    assert (code, outcomes(result)) == (0, [(key, "done", None) for key in KEYS])
    written = names([each for each in place.proxy.seen() if each.method in {"PUT", "POST"}], "copies/clicks")
    for number in range(DUE):
        of_instance = [name.partition("/")[2] for name in written if name.startswith(f"2026-03-01-{number:02}/")]
        assert of_instance[-1] == "_SUCCESS"
        assert sorted(of_instance) == ["_SUCCESS", "deep/part-1", "part-0"]


def test_a_disk_is_copied_there_and_back(place: CloudPlace, tmp_path: Path) -> None:
    check(tmp_path / "1", local(tmp_path / "from"), End(uri=uri(place, "/copies")))
    check(tmp_path / "2", End(uri=uri(place, "/back")), local(tmp_path / "to"))
