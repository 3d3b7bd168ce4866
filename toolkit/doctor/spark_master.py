"""Whether a Spark master of a cluster entity is one, and whether it can be reached."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Iterator, Mapping

from toolkit.doctor.addresses import Address, addresses_of, tcp_findings
from toolkit.doctor.findings import CheckStatus, Finding, ok, warning

_LOCAL = re.compile(r"local(\[(\d+|\*)(,\d+)?\])?")
_SECONDS = 5.0
_LONGEST = 1 << 16
_HEAD = ">qb"
_HEAD_SIZE = struct.calcsize(_HEAD)
_STREAM_REQUEST = 6
_NO_FILE = b"/files/feedctl-doctor"
_QUESTION = (
    struct.pack(_HEAD, _HEAD_SIZE + 4 + len(_NO_FILE), _STREAM_REQUEST) + struct.pack(">i", len(_NO_FILE)) + _NO_FILE
)
"""A `StreamRequest` of Spark's `org.apache.spark.network.protocol` for a file that no master has."""
_YARN = frozenset({"yarn", "yarn-client", "yarn-cluster"})


def spark_findings(master: str, variables: Mapping[str, str]) -> Iterator[Finding]:
    """What the master is, and whether somebody listens there.

    Args:
        master: the end point of the cluster's `spark` interface.
        variables: of the environment.
    """
    if _LOCAL.fullmatch(master):
        yield ok(f"{master}: in this process")
    elif master in _YARN:
        if variables.get("HADOOP_CONF_DIR") or variables.get("YARN_CONF_DIR"):
            yield ok(f"{master}: the resource manager of HADOOP_CONF_DIR")
        else:
            todo = "spark-submit needs HADOOP_CONF_DIR or YARN_CONF_DIR to find the resource manager"
            yield warning(f"{master}: neither HADOOP_CONF_DIR nor YARN_CONF_DIR is set here", todo=todo)
    elif master.startswith("spark://"):
        yield from _standalone_findings(master)
    elif master.startswith("k8s://"):
        yield from tcp_findings(master)
    else:
        todo = "write local, local[N], yarn, yarn-client, yarn-cluster, spark://HOST:PORT or k8s://..."
        yield warning(f"{master}: no master that Spark knows", todo=todo)


def _standalone_findings(master: str) -> Iterator[Finding]:
    """A port that is listened at says little: the operating system takes connections for a process that hangs."""
    for finding in tcp_findings(master):
        silent = [str(each) for each in addresses_of(master) if finding.status is CheckStatus.OK and _is_silent(each)]
        if silent:
            found = f"{finding.found}, but {', '.join(silent)} answered nothing within {_SECONDS:g} s"
            yield warning(found, todo="the master may hang: see its log and its threads, and start it anew")
        else:
            yield finding


def _is_silent(address: Address) -> bool:
    """Whether a master leaves a question unanswered that it refuses at once, also when it asks for a secret.

    Who ends the connection instead is alive, and wants TLS or is something else.
    """
    try:
        with socket.create_connection((address.host, address.port), timeout=_SECONDS) as connection:
            connection.sendall(_QUESTION)
            with connection.makefile("rb") as stream:
                length, _ = struct.unpack(_HEAD, stream.read(_HEAD_SIZE).rjust(_HEAD_SIZE, b"\0"))
                # Read to its end, or the master logs a connection that broke.
                stream.read(max(0, min(length - _HEAD_SIZE, _LONGEST)))
    except TimeoutError:
        return True
    except OSError:
        return False
    return False
