"""The client of one HDFS: its address, its settings, its user, and the time limit of its calls."""

from __future__ import annotations

import ctypes
import getpass
import io
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from hdfs_native import Client

from toolkit.errors import InvalidInput
from toolkit.storage.bounded import BoundedCalls, BrokenCall, NoAnswer
from toolkit.storage.errors import StorageError, Unreachable
from toolkit.storage.hadoop_conf import asks_for_kerberos, hadoop_settings, settings_read
from toolkit.storage.hdfs_errors import hdfs_error, is_no_such_host, unknown_authority
from toolkit.storage.hdfs_tokens import library_settings, token_address
from toolkit.storage.trusted_addresses import with_port

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.storage.spec import StorageSpec

_Answer = TypeVar("_Answer")

_QUICK = {
    "dfs.client.failover.max.attempts": "4",
    "dfs.client.failover.sleep.base.millis": "100",
    "dfs.client.failover.sleep.max.millis": "1000",
}
"""A NameNode that is down or on standby is found out within seconds; the waiting beyond that is `PatientFileSystem`'s.

Hadoop's own defaults try 15 times, up to 15 s apart: without an error for minutes."""

_LIVE: weakref.WeakSet[Client] = weakref.WeakSet()
"""The clients of this process, to be known in a child."""

_DEFAULT_PORT = 8020
_NAMENODES = "dfs.ha.namenodes."
_RPC_ADDRESS = "dfs.namenode.rpc-address."


class UnusableHdfs(InvalidInput):
    """The settings of an HDFS cannot be used.

    Args:
        authority: name service, or host and port.
        found: what is wrong.
        instead: what to do.
    """

    def __init__(self, *, authority: str, found: str, instead: str) -> None:
        self.authority, self.found, self.instead = authority, found, instead
        super().__init__(f"hdfs://{authority}: {found}; {instead}")


class HdfsClient:
    """Runs calls on the library's client, made when first needed, and once again in a forked process.

    Args:
        spec: which HDFS. Its settings stand above those of the files in HADOOP_CONF_DIR.
        bounded: runs the calls.

    Raises:
        UnusableHdfs: the name service has no addresses, or another user is asked for than this process has.
        UntrustedAddress: a token or a ticket would go to an address that the operator does not name.
        UntrustedKeyProvider: a ticket would go to a key server that the operator does not name.
        NoHadoopConfDir: HADOOP_CONF_DIR names no directory.
        UnreadableHadoopConf: a file of it can't be read.
    """

    def __init__(self, spec: StorageSpec, bounded: BoundedCalls) -> None:
        self._settings = hadoop_settings(spec)
        _refuse_other_user(spec, self._settings)
        self._spec, self._bounded = spec, bounded
        self._opening = threading.Lock()
        self._client: Client | None = None
        self._process = 0
        # The name of a host that once answered may be gone for a while, as that of a container that is started anew.
        self._may_be_unknown = spec.authority not in _services(self._settings)
        self._opened()

    def asked(self, path: CanonicalPath, call: Callable[[Client], _Answer]) -> _Answer:
        """The answer to one call.

        Raises:
            StorageError: what HDFS said. `Unreachable` also when the time limit is over; the call **may still take
                effect**, since nothing can call it back. `UnknownAuthority` when nobody has the name, and never did.
        """
        client = self._client
        if client is None or self._process != os.getpid():
            client = self._opened()
        try:
            answer = self._bounded.run(lambda: call(client))
        except (OSError, RuntimeError, ValueError, OverflowError, NoAnswer, BrokenCall) as error:
            raise self._meaning(error, path) from error
        if self._may_be_unknown:
            self._may_be_unknown = _is_unasked(answer)
        return answer

    def _meaning(self, error: Exception, path: CanonicalPath) -> StorageError:
        if self._may_be_unknown and is_no_such_host(error):
            return unknown_authority(error, path, settings_read())
        found = hdfs_error(error, path)
        self._may_be_unknown = self._may_be_unknown and isinstance(found, Unreachable)
        return found

    def _opened(self) -> Client:
        if self._process != os.getpid():
            # The lock of a parent may be held by a thread that does not exist here.
            self._opening, self._client, self._process = threading.Lock(), None, os.getpid()
        with self._opening:
            if self._client is None:
                self._client = _client(self._spec, self._settings)
            return self._client


def _is_unasked(answer: object) -> bool:
    """Whether the NameNode has not been asked yet: a listing does so when its first page is taken, a stream did."""
    return isinstance(answer, Iterator) and not isinstance(answer, io.IOBase)


def _client(spec: StorageSpec, settings: Mapping[str, str]) -> Client:
    """A client; nothing is asked of the NameNode yet. What is given here stands above the files that it reads."""
    address = _address(spec.authority, settings)
    guarded = library_settings(spec, _nodes(address, settings), settings)
    try:
        client = Client(f"hdfs://{address}", {**settings, **_QUICK, **spec.hadoop_conf, **guarded})
    except (OSError, RuntimeError, ValueError) as error:
        raise UnusableHdfs(
            authority=spec.authority,
            found=f"the settings cannot be used ({error})",
            instead="check hadoop_conf of the cluster entity, or HADOOP_CONF_DIR: dfs.nameservices, "
            "dfs.ha.namenodes.NAME and dfs.namenode.rpc-address.NAME.EACH belong together",
        ) from error
    _LIVE.add(client)
    return client


def _nodes(address: str, settings: Mapping[str, str]) -> list[str]:
    """The NameNodes behind what `_address` gave."""
    start = f"{_RPC_ADDRESS}{address}."
    found = [with_port(value, _DEFAULT_PORT) for key, value in settings.items() if key.startswith(start)]
    return found or [address]


def _outlive_fork() -> None:
    """Keep a parent's clients to the very end of the child: each waits for its threads there, and the child has none.

    A reference from this module would not do, since the interpreter drops those when it ends.
    """
    for client in _LIVE:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(client))


os.register_at_fork(after_in_child=_outlive_fork)


def _address(authority: str, settings: Mapping[str, str]) -> str:
    """The authority as the library wants it: it takes whatever has no port for a name service.

    A `CanonicalPath` is in lower case and leaves the default port out.
    """
    known = _services(settings).get(authority)
    return known or token_address(authority if ":" in authority else f"{authority}:{_DEFAULT_PORT}")


def _services(settings: Mapping[str, str]) -> dict[str, str]:
    """The name services that the settings describe, by their names in lower case."""
    services = (key.removeprefix(_NAMENODES) for key in settings if key.startswith(_NAMENODES))
    return {service.lower(): service for service in services}


def _refuse_other_user(spec: StorageSpec, settings: Mapping[str, str]) -> None:
    """The library reads the user from the environment at every new connection, so a process has one user only."""
    if not spec.user or asks_for_kerberos(settings):
        return
    has = os.environ.get("HADOOP_USER_NAME") or getpass.getuser()
    if has != spec.user:
        raise UnusableHdfs(
            authority=spec.authority,
            found=f"this process acts as {has}, and {spec.user} was asked for",
            instead=f"start it with HADOOP_USER_NAME={spec.user}",
        )
