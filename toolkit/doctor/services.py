"""Checks that the hosts and ports of services and Spark masters accept connections."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from toolkit.doctor.findings import CheckResult, failed, ok, warning

_CONNECT_SECONDS = 5.0
_ADDRESS = re.compile(
    r"(?:^|//|[,(;])\s*(?:[^/@,()\s]*@)?(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/,()@\[\]]+):(?P<port>\d{1,5})"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A port of a host."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def addresses_of(endpoint: str) -> Sequence[Address]:
    """Return the hosts with ports of an end point: ``a:1``, ``thrift://a:1,thrift://b:2``, ``failover:(tcp://a:1)``."""
    found = _ADDRESS.finditer(endpoint)
    return [Address(host=each["host"].strip("[]"), port=int(each["port"])) for each in found]


def connect_error(address: Address, seconds: float = _CONNECT_SECONDS) -> str:
    """Return why the address accepts no connection; empty: it does."""
    try:
        with socket.create_connection((address.host, address.port), timeout=seconds):
            return ""
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__


def tcp_findings(endpoint: str) -> Iterator[CheckResult]:
    """Check that the hosts of an end point accept connections; one of several is enough for most clients."""
    addresses = addresses_of(endpoint)
    if not addresses:
        yield warning(f"{endpoint}: no host and port in it", todo="write it as host:port, or as a URL with a port")
        return
    begun = time.monotonic()
    errors = {address: connect_error(address) for address in addresses}
    milliseconds = (time.monotonic() - begun) * 1000
    broken = [f"{address}: {error}" for address, error in errors.items() if error]
    listening = [str(address) for address, error in errors.items() if not error]
    if not broken:
        yield ok(f"{', '.join(listening)} accepts connections ({milliseconds:.0f} ms)")
    elif listening:
        yield warning(f"{', '.join(listening)} accepts connections; {_listed(broken)}", todo="see why not all are up")
    else:
        yield failed(_listed(broken), todo="see whether the service is up, and whether this machine may connect to it")


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(texts)


_LOCAL = re.compile(r"local(\[(\d+|\*)(,\d+)?\])?")
_YARN = frozenset({"yarn", "yarn-client", "yarn-cluster"})


def spark_findings(master: str, variables: Mapping[str, str]) -> Iterator[CheckResult]:
    """Yield findings about the master: its kind, and whether it can be reached.

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
    elif master.startswith(("spark://", "k8s://")):
        yield from tcp_findings(master)
    else:
        todo = "write local, local[N], yarn, yarn-client, yarn-cluster, spark://HOST:PORT or k8s://..."
        yield warning(f"{master}: no master that Spark knows", todo=todo)
