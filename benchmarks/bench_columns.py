"""Column lineage of 200 statements: seconds of CPU, against sqllineage on the same statements in the same run.

135 are the queries of TPC-DS, the others those of our corpus that write. sqllineage is installed once into build/peers.
Goal: no slower than sqllineage, and columns of at least as many statements.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import venv
from pathlib import Path
from statistics import median

from benchmarks.whole_process import ROOT
from tests.unit.lineage.test_statements import CORPUS, SCHEMAS
from tests.unit.lineage.test_tpcds import queries, schemas
from toolkit.lineage.columns import Schemas
from toolkit.lineage.statements import statement_lineage

STATEMENTS, ROUNDS = 200, 1
PEER = ROOT / "build" / "peers" / "sqllineage"
VERSION = "1.5.9"


def statements() -> list[str]:
    """The statements that are read."""
    tpcds = [f"INSERT INTO target BY NAME {text.strip().rstrip(';')}" for _, text in sorted(queries().items())]
    return [*tpcds, *(each["sql"] for each in CORPUS if "unknown" not in each and ";" not in each["sql"])][:STATEMENTS]


def ours(texts: list[str]) -> tuple[float, int]:
    """Seconds of CPU, and how many statements have relations of columns."""
    known = Schemas(columns={**schemas().columns, **SCHEMAS.columns}, paths=SCHEMAS.paths)
    began, found = time.process_time(), 0
    for each in texts:
        relations = [relation for one in statement_lineage(each, known) for relation in one.relations]
        found += any(relation.target.column for relation in relations)
    return time.process_time() - began, found


def peer_python() -> Path:
    """The Python of a venv that has sqllineage; it is made once."""
    python = PEER / "bin" / "python"
    if not python.exists():
        venv.create(PEER, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", f"sqllineage=={VERSION}"], check=True)
    return python


def theirs(texts: list[str]) -> tuple[float, int]:
    """The same by sqllineage."""
    program = Path(__file__).parent / "peers" / "sqllineage_peer.py"
    done = subprocess.run(
        [peer_python(), program], input=json.dumps(texts).encode(), stdout=subprocess.PIPE, check=True
    )
    found = json.loads(done.stdout)
    return float(found["seconds"]), int(found["known"])


def main() -> int:
    """Print the figures of both; the exit code says whether the goal is met."""
    texts = statements()
    rounds = [(ours(texts), theirs(texts)) for _ in range(ROUNDS)]
    for name, at in (("feedctl", 0), ("sqllineage", 1)):
        seconds = median(each[at][0] for each in rounds)
        print(f"{name}: {seconds:.2f} s of CPU for {len(texts)} statements, columns known of {rounds[0][at][1]}")
    ratio = median(one[0] / other[0] for one, other in rounds)
    met = ratio <= 1 and rounds[0][0][1] >= rounds[0][1][1]
    print(f"ratio {ratio:.2f}, goal at most 1: {'met' if met else 'MISSED'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
