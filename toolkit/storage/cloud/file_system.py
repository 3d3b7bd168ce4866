"""Google Cloud Storage and Azure as file systems; both remove key by key, several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from importlib import import_module
from itertools import islice
from typing import TYPE_CHECKING

from requests.auth import AuthBase
from typing_extensions import override

from toolkit.el import CanonicalPath
from toolkit.storage.calls import Once
from toolkit.storage.cloud import azure, gcs
from toolkit.storage.cloud.azure_account import account_of
from toolkit.storage.cloud.bucket import Bucket
from toolkit.storage.cloud.extras import require
from toolkit.storage.cloud.http import HttpClient
from toolkit.storage.deletion import refuse_outside
from toolkit.storage.errors import NotBegun, NotDone, NotFound, StorageError, Unreachable
from toolkit.storage.flat import PARALLEL, FlatFileSystem, key_of, prefix_of
from toolkit.storage.hadoop_conf import refuse_secrets
from toolkit.storage.look import Look
from toolkit.storage.port import Bindable, Deleted, StorageSpec
from toolkit.storage.streams import in_parts
from toolkit.threads import WorkerPool
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from requests import PreparedRequest

_PATHS_AT_ONCE = 8
PART_BYTES = 8 * 1024 * 1024
"""A part of an upload; parts double every 10,000, since Azure takes 50,000."""


class _Anonymous(AuthBase):
    """Proves nothing; without it, `requests` would look for a password in a file of the user."""

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Leave a request as it is."""
        return request


def opened(spec: StorageSpec, before_effect: Callable[[], None]) -> CloudFileSystem:
    """Return the file system of a bucket or container; nothing is asked of it yet.

    Args:
        spec: scheme ``gs`` (authority: the bucket) or ``abfs`` (``container@account.dfs.core.windows.net``).
        before_effect: called before every attempt of a request that changes something.

    Raises:
        InvalidInput: the extra is not installed, a setting carries a secret, or the container cannot be told.
    """
    refuse_secrets(spec.hadoop_conf)
    root = CanonicalPath(spec.scheme, spec.authority, "/")
    variables = process_variables()  # with the credentials
    if spec.scheme == "abfs":
        account = account_of(spec, variables)
        client = HttpClient(account.sign, azure.code_of)
        return CloudFileSystem(azure.AzureContainer(root, client, before_effect, account.url))
    base = gcs.emulator(variables)
    client = HttpClient(_Anonymous() if base else _google(), gcs.code_of)
    return CloudFileSystem(gcs.GcsBucket(root, client, before_effect, base))


def _google() -> AuthBase:
    require("google.auth", scheme="gs", extra="gcs")
    tokens: AuthBase = import_module("toolkit.storage.cloud.google_tokens").GoogleTokens()
    return tokens


class CloudFileSystem(FlatFileSystem, Bindable):
    """File system over one bucket of Google Cloud Storage, or one container of Azure.

    Args:
        bucket: sends the requests.
    """

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._threads = Once(lambda: WorkerPool(PARALLEL, f"objects-{bucket.root.authority}"))

    @override
    def bound(self, before_effect: Callable[[], None]) -> CloudFileSystem:
        """Have threads of its own, since a run that is paused rests in them."""
        return CloudFileSystem(self._bucket.bound(before_effect))

    @property
    @override
    def objects(self) -> Bucket:
        return self._bucket

    @override
    def close(self) -> None:
        self._bucket.close()

    @override
    def write(self, path: CanonicalPath, chunks: Iterable[bytes], *, overwrite: bool = True) -> None:
        """Upload large files in parts of 8 MiB, holding two of them."""
        key = self.refuse_directory(path, overwrite=overwrite)
        self._bucket.put(key, in_parts(chunks, lambda number: PART_BYTES << (number // 10_000)), overwrite=overwrite)

    @override
    def delete(self, path: CanonicalPath, *, below: CanonicalPath, look: Look | None = None) -> None:
        """Remove the object at the path, and every key that begins with the path and ``/``."""
        refuse_outside(path, below)
        if look is not None:
            look.let_through()
        self._delete(path, below=below)

    def _delete(self, path: CanonicalPath, *, below: CanonicalPath, first: str = "") -> None:
        refuse_outside(path, below)
        key = key_of(path, self._bucket.root)
        found = self.remove_object(path, f"{key}/{first}") if first else False
        found = self._removed_below(prefix_of(key)) or found
        # Last, since it may be the directory itself.
        if not (self.remove_object(path, key) or found):
            raise NotFound(path=path)

    @override
    def delete_all(self, paths: Iterable[CanonicalPath], *, below: CanonicalPath, first: str = "") -> Iterator[Deleted]:
        """Remove several paths at once; a store that did not answer is not asked about the rest."""
        waiting = iter(paths)
        pool = WorkerPool(_PATHS_AT_ONCE, f"paths-{self._bucket.root.authority}")
        running: dict[Future[None], CanonicalPath] = {}
        stop: BaseException | None = None
        silence: Unreachable | None = None
        try:
            while True:
                for path in islice(waiting, 0 if stop or silence else _PATHS_AT_ONCE - len(running)):
                    running[pool.submit(self._delete, path, below=below, first=first)] = path
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    path, error = running.pop(future), future.exception()
                    if error is not None and not isinstance(error, StorageError):
                        stop = error
                        continue
                    silence = error if isinstance(error, Unreachable) else silence
                    yield Deleted(path, error)
        finally:
            # A caller that stops iterating must not leave removals behind.
            pool.shutdown(wait=False, cancel_futures=True)
            wait(running)
        for path in waiting:
            yield Deleted(path, NotBegun(path=path) if silence is None else NotDone(path=path, detail=silence.detail))
        if stop is not None:
            raise stop

    def _removed_below(self, prefix: str) -> bool:
        directories: list[str] = []
        found = False
        batch: list[str] = []
        for key, is_directory in self._bucket.keys(prefix):
            found = True
            (directories if is_directory else batch).append(key)
            if len(batch) >= PARALLEL * PARALLEL:
                self._threads().run_all(self._remove, batch)
                batch = []
        self._threads().run_all(self._remove, batch)
        for key in sorted(directories, reverse=True):
            self._remove(key)
        return found

    def _remove(self, key: str) -> None:
        with suppress(NotFound):
            self._bucket.remove(key)

    @override
    def remove_object(self, path: CanonicalPath, key: str) -> bool:
        with suppress(NotFound):
            self._bucket.remove(key)
            return True
        return False
