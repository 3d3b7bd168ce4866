"""The database of the demo of exchanges: `demo_exchange_database.py FOLDER`, until its standard input ends.

A PostgreSQL of its own with customers and their visits, an account with a password, and a writer that works all the
time: it moves money between customers, adds and removes some, and notes visits. FOLDER/database has URL and jars as
variables of a shell once all is there. The writer's day is in the table `clock`, for the demo to change.
"""

from __future__ import annotations

import sys
import threading
from contextlib import closing
from pathlib import Path

import psycopg

from tests.databases.postgresql import running_postgres
from tests.testbed.jars import JDBC

CUSTOMERS, VISITS = 100_000, 1_000
TABLES = f"""
CREATE ROLE shop LOGIN PASSWORD 'tea-and-cups';
CREATE TABLE clock (day date NOT NULL);
INSERT INTO clock VALUES ('2026-03-20');
CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL, cents bigint NOT NULL, changed_at timestamptz NOT NULL);
INSERT INTO customers SELECT g, 'customer ' || g, 1000, '2026-03-19 12:00+00' FROM generate_series(1, {CUSTOMERS}) g;
CREATE TABLE visits (id bigserial PRIMARY KEY, customer int NOT NULL);
INSERT INTO visits (customer) SELECT g FROM generate_series(1, {VISITS}) g;
CREATE TABLE customers_copy (id int PRIMARY KEY, name text, cents bigint, changed_at timestamptz);
GRANT SELECT ON customers, visits TO shop;
ALTER TABLE customers_copy OWNER TO shop;
GRANT CREATE ON SCHEMA public TO shop;
"""  # noqa: S608 - numbers of this file
MOVE = """
UPDATE customers SET cents = cents + CASE id WHEN %(n)s THEN 1 ELSE -1 END, changed_at = day + time '10:00'
FROM clock WHERE id IN (%(n)s, %(n)s + 1)
"""
REPLACE = """
WITH gone AS (DELETE FROM customers WHERE id = (SELECT max(id) FROM customers) RETURNING cents)
INSERT INTO customers SELECT 1000000 + %(n)s, 'new', cents, day + time '10:00' FROM gone, clock
"""


def write(url: str, over: threading.Event) -> None:
    """Write all the time; the sum of the cents and the number of customers stay."""
    with closing(psycopg.connect(url)) as connection:
        number = 0
        while not over.wait(0.02):
            number += 1
            with connection.transaction():
                values = {"n": number % 50_000 * 2 + 1}
                connection.execute(MOVE, values)
                connection.execute(REPLACE, {"n": number})
                connection.execute("INSERT INTO visits (customer) VALUES (%(n)s)", values)


def main(folder: str) -> None:
    """Run the database and its writer."""
    jar = next(JDBC.fetched().glob("postgresql-*.jar"))
    with running_postgres() as server:
        rules = server.directory / "data" / "pg_hba.conf"
        rules.write_text(f"host all shop 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        server.create_database("shop")
        url = server.url("shop").replace("+psycopg", "")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("SET TIME ZONE 'UTC'")
            connection.execute(TABLES.encode())
            connection.execute("ALTER DATABASE shop SET timezone = 'UTC'")
        over = threading.Event()
        writer = threading.Thread(target=write, args=(url, over))
        writer.start()
        try:
            place = f"127.0.0.1{url.rpartition('127.0.0.1')[2]}"
            partial = Path(folder) / "database.new"
            partial.write_text(f"URL='{url}'\nJDBC='jdbc:postgresql://{place}'\nJAR='{jar}'\n")
            partial.rename(Path(folder) / "database")
            sys.stdin.read()
        finally:
            over.set()
            writer.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
