"""Compiled statements that all engines of a process share: each of thousands of ledgers would compile its own."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from typing_extensions import override

Key = tuple[Any, ...]


class SharedStatements(dict[Key, Any]):
    """A cache of SQLAlchemy, whose keys begin with a dialect: those of one database compile alike."""

    @override
    def get(self, key: Key, default: Any = None) -> Any:
        return super().get((type(key[0]), *key[1:]), default)

    @override
    def __setitem__(self, key: Key, value: Any) -> None:
        super().__setitem__((type(key[0]), *key[1:]), value)


_SHARED = SharedStatements()


def share_statements() -> None:
    """Have all engines that this process makes use one cache."""
    sa.event.listen(sa.Engine, "engine_connect", _use_shared)


def _use_shared(connection: sa.Connection) -> None:
    connection.execution_options(compiled_cache=_SHARED)
