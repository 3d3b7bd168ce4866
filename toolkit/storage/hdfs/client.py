"""The library's client of one NameNode or name service: calls in time, listings in pages, files as streams."""

from __future__ import annotations

import getpass
import heapq
import io
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, TypeVar

from hdfs_native import Client
from typing_extensions import override

from toolkit.errors import InvalidInput
from toolkit.storage.base import moment
from toolkit.storage.calls import BoundedCalls, BrokenCall, NoAnswer
from toolkit.storage.errors import StorageError, StorageFailure, Unreachable
from toolkit.storage.hadoop_conf import asks_for_kerberos, hadoop_settings, settings_read
from toolkit.storage.hdfs.errors import hdfs_error, is_no_such_host, unknown_authority
from toolkit.storage.hdfs.tokens import library_settings, token_address
from toolkit.storage.port import Entry, FileKind
from toolkit.storage.streams import StreamInPieces
from toolkit.storage.trusted_addresses import with_port
from toolkit.variables import Variables, process_variables

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hdfs_native import FileReader, FileStatus, FileWriter, WriteOptions

    from toolkit.el import CanonicalPath
    from toolkit.storage.port import StorageSpec


_Answer = TypeVar("_Answer")

_QUICK = {
    "dfs.client.failover.max.attempts": "4",
    "dfs.client.failover.sleep.base.millis": "100",
    "dfs.client.failover.sleep.max.millis": "1000",
}
"""A NameNode that is down or on standby is found out within seconds; the waiting beyond that is `PatientFileSystem`'s.

Hadoop's own defaults try 15 times, up to 15 s apart: without an error for minutes."""

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
    """Runs calls on the library's client.

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
        self._variables = process_variables()  # those that the library itself reads
        self._settings = hadoop_settings(spec, self._variables)
        _refuse_other_user(spec, self._settings, self._variables)
        self._bounded = bounded
        # The name of a host that once answered may be gone for a while, as that of a container that is started anew.
        self._may_be_unknown = spec.authority not in _services(self._settings)
        self._client = _client(spec, self._settings, self._variables)

    def bounded(self, path: CanonicalPath, call: Callable[[Client], _Answer]) -> _Answer:
        """The answer to one call.

        Raises:
            StorageError: what HDFS said. `Unreachable` also when the time limit is over; the call **may still take
                effect**, since nothing can call it back. `UnknownAuthority` when no host has the name, and never had.
        """
        try:
            answer = self._bounded.run(lambda: call(self._client))
        except (OSError, RuntimeError, ValueError, OverflowError, NoAnswer, BrokenCall) as error:
            raise self._meaning(error, path) from error
        if self._may_be_unknown:
            self._may_be_unknown = _is_unasked(answer)
        return answer

    def _meaning(self, error: Exception, path: CanonicalPath) -> StorageError:
        if self._may_be_unknown and is_no_such_host(error):
            return unknown_authority(error, path, settings_read(self._variables))
        found = hdfs_error(error, path)
        self._may_be_unknown = self._may_be_unknown and isinstance(found, Unreachable)
        return found


def _is_unasked(answer: object) -> bool:
    """Return whether the NameNode is not called yet: a listing calls it for its first page, a stream at its opening."""
    return isinstance(answer, Iterator) and not isinstance(answer, io.IOBase)


def _client(spec: StorageSpec, settings: Mapping[str, str], variables: Variables) -> Client:
    """A client; nothing is asked of the NameNode yet. What is given here stands above the files that it reads."""
    address = _address(spec.authority, settings, variables)
    guarded = library_settings(spec, _nodes(address, settings), settings, variables)
    try:
        client = Client(f"hdfs://{address}", {**settings, **_QUICK, **spec.hadoop_conf, **guarded})
    except (OSError, RuntimeError, ValueError) as error:
        raise UnusableHdfs(
            authority=spec.authority,
            found=f"the settings cannot be used ({error})",
            instead="check hadoop_conf of the cluster entity, or HADOOP_CONF_DIR: dfs.nameservices, "
            "dfs.ha.namenodes.NAME and dfs.namenode.rpc-address.NAME.EACH belong together",
        ) from error
    return client


def _nodes(address: str, settings: Mapping[str, str]) -> list[str]:
    """The NameNodes behind what `_address` gave."""
    start = f"{_RPC_ADDRESS}{address}."
    found = [with_port(value, _DEFAULT_PORT) for key, value in settings.items() if key.startswith(start)]
    return found or [address]


def _address(authority: str, settings: Mapping[str, str], variables: Variables) -> str:
    """The authority as the library wants it: it takes whatever has no port for a name service.

    A `CanonicalPath` is in lower case and leaves the default port out.
    """
    known = _services(settings).get(authority)
    return known or token_address(authority if ":" in authority else f"{authority}:{_DEFAULT_PORT}", variables)


def _services(settings: Mapping[str, str]) -> dict[str, str]:
    """The name services that the settings describe, by their names in lower case."""
    services = (key.removeprefix(_NAMENODES) for key in settings if key.startswith(_NAMENODES))
    return {service.lower(): service for service in services}


def _refuse_other_user(spec: StorageSpec, settings: Mapping[str, str], variables: Variables) -> None:
    """The library reads the user from the environment at every new connection, so a process has one user only."""
    if not spec.user or asks_for_kerberos(settings):
        return
    has = variables.get("HADOOP_USER_NAME") or getpass.getuser()
    if has != spec.user:
        raise UnusableHdfs(
            authority=spec.authority,
            found=f"this process acts as {has}, and {spec.user} was asked for",
            instead=f"start it with HADOOP_USER_NAME={spec.user}",
        )


PAGE = 1000
"""Entries that are taken over at once: as many as a NameNode sends in one answer (``dfs.ls.limit``)."""


def page_of(statuses: Iterator[FileStatus], parent: str) -> list[Entry] | None:
    """The next entries, with one request of the NameNode; none when the listing is over.

    Returns:
        None when the listing is of a file, which HDFS answers with the file itself.
    """
    found = list(islice(statuses, PAGE))
    if len(found) == 1 and found[0].path == parent:
        return None
    return [_entry(status) for status in found]


def _entry(status: FileStatus) -> Entry:
    name = status.path.rpartition("/")[2]
    if status.isdir:
        return Entry(name, FileKind.DIRECTORY)
    return Entry(name, FileKind.FILE, status.length, moment(status.modification_time / 1000))


def by_code_point(entries: Iterable[Entry], path: CanonicalPath) -> Iterator[Entry]:
    """The entries by code point, though HDFS compares names as signed bytes.

    With signed bytes, names that have other characters than ASCII come before those that have the ASCII ones at the
    first place where they differ. So among themselves the two kinds are in order, and of the first kind none comes
    too late: it is held until a name of the second kind is greater.

    Raises:
        StorageFailure: the store lists in another order, and what a caller stops at would be wrong.
    """
    held: list[Entry] = []
    last = ""
    for entry in entries:
        if not entry.name.isascii():
            heapq.heappush(held, entry)
            continue
        if entry.name < last:
            raise StorageFailure(path=path, detail=f"listed {entry.name!r} after {last!r}; expected sorted names")
        last = entry.name
        while held and held[0] < entry:
            yield heapq.heappop(held)
        yield entry
    while held:
        yield heapq.heappop(held)


PIECE_BYTES = 1 << 20
"""So much is read or written at once, and has the time of one call for it: with 30 s, about 35 kB a second."""


SMALL_BYTES = 64 * 1024
"""A file of so many bytes is read as a whole when it is opened."""


def opened_file(client: Client, path: str) -> tuple[FileReader, bytes | None]:
    """Return a reader, and all that it has when that is little."""
    reader = client.read(path)
    return reader, reader.read(len(reader)) if len(reader) <= SMALL_BYTES else None


def begun_file(
    client: Client, path: CanonicalPath, options: WriteOptions, first: bytes, second: bytes | None
) -> FileWriter:
    """Return a new file with its first piece, closed when there is no second one."""
    writer = client.create(path.path, options)
    if first:
        writer.write(first)
    if second is None:
        writer.close()
    return writer


class HdfsStream(StreamInPieces):
    """Reads forward, or anywhere after `seek`.

    Args:
        reader: the library's open file.
        bounded: runs one call within its time limit, and turns its error into one of the storage.
        lost: the error for a stream whose last read was not answered: its position is not known any more.
    """

    most: ClassVar[int] = PIECE_BYTES

    def __init__(
        self, reader: FileReader, bounded: Callable[[Callable[[], bytes]], bytes], lost: Callable[[], Unreachable]
    ) -> None:
        self._reader, self._bounded, self._lost = reader, bounded, lost
        self._is_lost = False

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """The position of the next byte."""
        return self._reader.tell()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to another position."""
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._reader.tell(), io.SEEK_END: len(self._reader)}
        # The library refuses a position behind the end, where a file has nothing to read.
        place = min(max(starts[whence] + offset, 0), len(self._reader))
        self._reader.seek(place)
        return place

    @override
    def piece(self, size: int) -> bytes:
        if self._is_lost:
            raise self._lost()
        self._is_lost = True
        found = self._bounded(lambda: self._reader.read(size))
        self._is_lost = False
        return found
