"""Tables of any columns and values come back from files as they were, or are refused by name."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases.datasources import DataServer
from tests.integration.random_tables import random_table
from tests.integration.round_trips import MERGED, RoundTrip
from toolkit.entities.vocabulary import DataFormat
from toolkit.exchange.rows import StoredFormat
from toolkit.exchange.spark_rows import SparkRows
from toolkit.jdbc.gateway import JdbcGateway

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(3600),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # Spark leaves sockets open
]
_KEYS = {"postgres_data": "bigserial", "mariadb_data": "bigint NOT NULL AUTO_INCREMENT"}
_ROUNDS = [
    pytest.param(6, marks=pytest.mark.extended, id="short"),
    pytest.param(150, marks=pytest.mark.soak, id="long"),
]


@pytest.fixture(scope="module")
def rows() -> Iterator[SparkRows]:
    """Rows by a Spark in this process."""
    made = SparkRows()
    yield made
    made.close()


@pytest.mark.parametrize("rounds", _ROUNDS)
@pytest.mark.parametrize("server", ["postgres_data", "mariadb_data"])
def test_random_tables_come_back_or_are_refused(
    request: pytest.FixtureRequest, jdbc_gateway: JdbcGateway, rows: SparkRows, tmp_path: Path, server: str, rounds: int
) -> None:
    data: DataServer = request.getfixturevalue(server)
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(2**32))
    for number in range(rounds):
        rng = random.Random(f"{seed}/{server}/{number}")  # noqa: S311 - values of a test
        stored = StoredFormat(format=rng.choice(list(DataFormat)), null_text="<null>")
        table = random_table(rng, data.datasource.type, backticks=stored.format is not DataFormat.ORC)
        about = f"SEED={seed} round {number} {stored.format}: {table.script}"
        data.run(f"DROP TABLE IF EXISTS t; {table.script}")
        data.run(f"ALTER TABLE t ADD row_id {_KEYS[server]} PRIMARY KEY")
        trip = RoundTrip(data, jdbc_gateway, rows, tmp_path / str(number), stored, table.wanted)
        if table.refused:
            with pytest.raises(AssertionError) as refusal:
                trip.read()
            assert all(each in str(refusal.value) for each in table.refused), about
            continue
        assert trip.read().rows == table.rows, about
        assert trip.stage() == table.rows, about
        assert not (found := trip.differences()), (found, about)
        assert trip.export("row_id") == table.rows, about
        assert not (found := trip.differences(MERGED)), (found, about)
