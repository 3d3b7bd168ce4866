"""Errors of the libraries below a catalog of tables."""

from __future__ import annotations

from sqlalchemy.exc import SQLAlchemyError
from thrift.Thrift import TException

FAILURES = (SQLAlchemyError, TException, OSError)
"""Errors of a catalog's database, of a metastore, and of a store."""
_MOST_CHARACTERS = 200


def cause_of(error: Exception) -> str:
    """Return the name of an error, and the text of a metastore's; that of a database may have its address."""
    text = str(getattr(error, "message", None) or "")[:_MOST_CHARACTERS] if isinstance(error, TException) else ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
