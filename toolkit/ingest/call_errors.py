"""Errors of calls in a wrong order, and of batches that may not commit any more."""

from __future__ import annotations

from toolkit.errors import Failed, InvalidInput


class NoOpenTransaction(InvalidInput):
    """A write, commit or abort without a begin."""

    code = "no_open_transaction"

    def __init__(self, *, call: str) -> None:
        self.call = call
        super().__init__(f"{call} without an open transaction; call begin first")


class TransactionIsOpen(InvalidInput):
    """A begin while a transaction is open."""

    code = "transaction_is_open"

    def __init__(self, *, transaction: int) -> None:
        self.transaction = transaction
        super().__init__(f"transaction {transaction} is still open; commit or abort it before the next begin")


class BatchIsClosed(InvalidInput):
    """A call of a batch after its close."""

    code = "batch_is_closed"

    def __init__(self, *, call: str) -> None:
        self.call = call
        super().__init__(f"{call} after the batch was closed; open another batch")


class BatchUsedUp(InvalidInput):
    """A begin after the last transaction of a batch."""

    code = "batch_used_up"

    def __init__(self, *, count: int) -> None:
        self.count = count
        super().__init__(f"all {count} transactions of the batch are used; close it and open another")


class BadTransactionCount(InvalidInput):
    """A batch of fewer than one transaction."""

    code = "bad_transaction_count"

    def __init__(self, *, found: int) -> None:
        self.found = found
        super().__init__(f"a batch of {found} transactions was asked for; expected 1 or more")


class BatchIsOpen(InvalidInput):
    """A second batch on a connection that has an open one."""

    code = "batch_is_open"

    def __init__(self, *, batch: int) -> None:
        self.batch = batch
        super().__init__(f"batch {batch} of this connection is still open; close it, or use another connection")


class ConnectionIsClosed(InvalidInput):
    """A call of a connection after its close."""

    code = "connection_is_closed"

    def __init__(self, *, table: str) -> None:
        self.table = table
        super().__init__(f"the connection to {table} is closed; connect again")


class BatchLapsed(Failed):
    """A heartbeat of a batch that lapsed, or that another aborted after that."""

    code = "batch_lapsed"

    def __init__(self, *, batch: int) -> None:
        self.batch = batch
        super().__init__(
            f"batch {batch} had no heartbeat within its timeout; open another and write its open transaction again"
        )


class CommitRefused(Failed):
    """A commit of a transaction whose batch lapsed or was aborted by another; nothing of it was committed."""

    code = "commit_refused"

    def __init__(self, *, transaction: int) -> None:
        self.transaction = transaction
        super().__init__(
            f"transaction {transaction} was not committed: its batch lapsed or was aborted; open another batch and "
            f"write its records again"
        )


class BadFixedValue(InvalidInput):
    """A fixed value of an endpoint that no partition column of the table can have."""

    code = "bad_fixed_value"

    def __init__(self, *, table: str, column: str, found: object, expected: str) -> None:
        self.table, self.column, self.found, self.expected = table, column, found, expected
        super().__init__(
            f"the endpoint fixes {column} of {table} to {found!r}, expected {expected}; nothing was written"
        )


class PartitionValueDiffers(InvalidInput):
    """A row whose value of a fixed partition column is another one."""

    code = "partition_value_differs"

    def __init__(self, *, column: str, expected: object) -> None:
        self.column, self.expected = column, expected
        super().__init__(f"a row has another {column} than {expected}, which the endpoint fixes; nothing was written")
