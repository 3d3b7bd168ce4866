"""Ingests into an Iceberg table that are killed at random moments, from a directory and from standard input."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa
from typing_extensions import override

from tests.contract.ingest_table.tables import emptied
from tests.databases.postgresql import PostgresServer
from tests.e2e.iceberg_site import IngestRepo
from tests.soak.chance import seeded
from toolkit.catalog.port import CatalogSpec
from toolkit.ingest.endpoint import CatalogAddress
from toolkit.ingest.iceberg import open_catalog

pytestmark = [pytest.mark.soak, pytest.mark.slow, pytest.mark.timeout(0)]
ROUNDS = int(os.environ.get("FEEDCTL_ROUNDS") or 100)
_RECORDS, _OF_STREAM = 60, 400


@dataclass(frozen=True, kw_only=True)
class CatalogRepo(IngestRepo):
    """A config repo whose catalog is anywhere.

    Attributes:
        catalog_at: SQLAlchemy's URL of its database, or the end point of its metastore.
    """

    catalog_at: str

    @classmethod
    def at(cls, root: Path, catalog_at: str) -> CatalogRepo:
        """Write the repo."""
        IngestRepo.make(root)
        file, url = root / "repo/clusters/primary.yaml", sa.make_url(catalog_at)
        place = f'sql, uri: "{catalog_at}"'
        if url.username:
            place = f'sql, uri: "postgresql://{url.host}:{url.port}/{url.database}", user: {url.username}'
        if url.drivername == "thrift":
            place = f'hive, uri: "{catalog_at}"'
        file.write_text(file.read_text().replace(f'sql, uri: "sqlite:///{root}/catalog.db"', place))
        return cls(root=root, catalog_at=catalog_at)

    @property
    @override
    def words(self) -> Counter[str]:
        type_ = "hive" if self.catalog_at.startswith("thrift") else "sql"
        address = CatalogAddress(type=type_, uri=self.catalog_at, warehouse="", name="feedctl")
        with closing(open_catalog(address)) as catalog:
            rows = catalog.catalog.load_table(("web", "clicks")).scan(selected_fields=("word",)).to_arrow()
        return Counter(rows["word"].to_pylist())

    def kill_after(self, seconds: float, *options: str, given: bytes = b"") -> bool:
        """Start a run and kill it then; return whether it was still at work."""
        with self.start(*options) as process:
            assert process.stdin is not None
            process.stdin.write(given)  # all of it fits into the pipe
            process.stdin.close()
            time.sleep(seconds)
            was_running = process.poll() is None
            process.kill()
        return was_running


@pytest.fixture(params=["sqlite", "postgresql", "hive"])
def repo(request: pytest.FixtureRequest, tmp_path: Path, postgres_server: PostgresServer) -> CatalogRepo:
    """Return a repo with a catalog on each database, and in a metastore."""
    if request.param == "sqlite":
        return CatalogRepo.at(tmp_path, f"sqlite:///{tmp_path}/catalog.db")
    if request.param == "hive":
        metastore: CatalogSpec = request.getfixturevalue("metastore_on_postgres")
        return CatalogRepo.at(tmp_path, emptied(metastore.uris, tmp_path).uri)
    database = f"catalog_{uuid4().hex}"
    postgres_server.create_database(database)
    return CatalogRepo.at(tmp_path, postgres_server.url(database))


def test_files_are_in_the_table_once_after_many_kills(repo: CatalogRepo) -> None:
    chance, expected, midway = seeded(), Counter[str](), 0
    for number in range(ROUNDS):
        for file in range(chance.randint(1, 4)):
            own = [f"{number}-{file}-{each}" for each in range(chance.randint(1, _RECORDS))]
            repo.put(f"{number:03}-{file}.json", own)
            expected.update(own)
        midway += repo.kill_after(chance.uniform(1, 6))
        if chance.random() < 0.2:
            assert repo.run()["exit"] == 0
            assert repo.words == expected, f"round {number}"
    assert repo.run()["exit"] == 0
    print(f"{ROUNDS} runs, {midway} killed at work; {expected.total()} records")  # noqa: T201
    assert repo.words == expected
    assert list((repo.root / "inbox").iterdir()) == []
    assert midway


def test_standard_input_is_in_the_table_once_after_many_kills(repo: CatalogRepo) -> None:
    chance, expected, midway, kills = seeded(), Counter[str](), 0, 0
    while kills < ROUNDS:
        words = [f"{kills}-{each}" for each in range(_OF_STREAM)]
        expected.update(words)
        rows = ({"ts": f"2026-03-20T0{at % 4}:30:00Z", "word": word} for at, word in enumerate(words))
        given, options = (
            "".join(f"{json.dumps(row)}\n" for row in rows).encode(),
            ("--stdin", "--stdin-name", str(kills)),
        )
        for _ in range(chance.randint(1, 5)):
            midway += repo.kill_after(chance.uniform(1, 6), *options, given=given)
            kills += 1
        assert repo.run(*options, given=given)["exit"] == 0
        assert repo.words == expected, f"after {kills} kills"
    print(f"{kills} runs, {midway} killed at work; {expected.total()} records")  # noqa: T201
    assert midway
