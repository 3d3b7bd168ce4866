"""Errors of batches and their files."""

from __future__ import annotations

from collections.abc import Collection

from toolkit.entities.nearest import suggestion
from toolkit.errors import Failed, InvalidInput
from toolkit.ledger.vocabulary import BatchState


class UnknownBatch(InvalidInput):
    """The ledger has no batch of this number.

    Args:
        batch_id: as given.
    """

    code = "unknown_batch"

    def __init__(self, *, batch_id: int) -> None:
        self.batch_id = batch_id
        super().__init__(f"the ledger has no batch {batch_id}; leave the batch out to make a new one")


class UnknownServer(InvalidInput):
    """No server has this name.

    Args:
        name: as given.
        known: the names of clusters and datasources that are registered.
    """

    code = "unknown_server"

    def __init__(self, *, name: str, known: Collection[str]) -> None:
        self.name, self.known = name, tuple(sorted(known))
        hint = suggestion(name, self.known)
        todo = "servers are the clusters and datasources that `feedctl ledger sync` registers"
        super().__init__(f"no server is named {name!r}; {hint + '; ' if hint else ''}{todo}")


class FileConflict(Failed):
    """The file is registered in the batch already, with another size or content.

    Args:
        batch_id: the batch.
        server: where the file is.
        path: of the file.
        registered: size and hash as they are registered.
        found: size and hash as they were given.
    """

    code = "file_conflict"

    def __init__(
        self,
        *,
        batch_id: int,
        server: str,
        path: str,
        registered: tuple[int, str | None],
        found: tuple[int, str | None],
    ) -> None:
        self.batch_id, self.server, self.path = batch_id, server, path
        self.registered, self.found = registered, found
        known, given = (f"{size} bytes, hash {digest or 'none'}" for size, digest in (registered, found))
        super().__init__(
            f"{path} on {server} is registered in batch {batch_id} with {known}, and comes now with {given}; "
            "a file of a batch never changes: register the new one in a new batch"
        )


class BatchIsTaken(Failed):
    """A step has taken the batch, so a new file of it might never be read.

    Args:
        batch_id: the batch.
        path: of the file that was to join it.
    """

    code = "batch_is_taken"

    def __init__(self, *, batch_id: int, path: str) -> None:
        self.batch_id, self.path = batch_id, path
        super().__init__(f"batch {batch_id} was taken by a step, which may miss {path}; put it into a new batch")


class BatchNotPublished(Failed):
    """A batch that cannot be enqueued: its job has not succeeded yet, or it was retracted.

    Args:
        batch_id: the batch.
        state: its state.
    """

    code = "batch_not_published"

    def __init__(self, *, batch_id: int, state: BatchState) -> None:
        self.batch_id, self.state = batch_id, state
        todo = "the job that makes it enqueues it with halt-job; register-file adds a file to it meanwhile"
        super().__init__(f"batch {batch_id} is {state}, expected published; {todo}")


class BatchOfAnother(InvalidInput):
    """A batch is not the source's, or has another marking.

    Args:
        batch_id: the batch.
        found: what it is.
        expected: what was given.
    """

    code = "batch_of_another"

    def __init__(self, *, batch_id: int, found: str, expected: str) -> None:
        self.batch_id, self.found, self.expected = batch_id, found, expected
        super().__init__(f"batch {batch_id} is {found}, expected {expected}; leave the batch out to make a new one")


class UnlistableFile(InvalidInput):
    """A path or hash that would break the text of get-etl-driver apart.

    Args:
        batch_id: the batch.
        text: the path or hash.
    """

    code = "unlistable_file"

    def __init__(self, *, batch_id: int, text: str) -> None:
        self.batch_id, self.text = batch_id, text
        super().__init__(
            f"{text!r} of batch {batch_id} has a ',' or ';', which part fields and files in this text; use get-files"
        )


class BadFile(InvalidInput):
    """Facts about a file that cannot be.

    Args:
        path: of the file.
        found: what is wrong.
    """

    code = "bad_file"

    def __init__(self, *, path: str, found: str) -> None:
        self.path, self.found = path, found
        super().__init__(f"file {path!r}: {found}; give its path on the server and its size in bytes")
