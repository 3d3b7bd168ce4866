"""Failures of a database, by what a person does about them."""

from __future__ import annotations

from toolkit.errors import Failed, InvalidInput, Unavailable


class DatabaseError(Failed):
    """The database refused a statement; `about` names the datasource, `detail` is the database's own text."""

    remedy = ""

    def __init__(self, *, about: str, detail: str) -> None:
        self.about, self.detail = about, detail
        super().__init__(f"{about}: {detail}" + (f"; {self.remedy}" if self.remedy else ""))


class LoginRefused(DatabaseError):  # noqa: N818 - named for what happened
    """The database refuses the user or the password."""

    remedy = "check user and credential of the datasource"


class NoSuchRelation(DatabaseError):  # noqa: N818 - named for what happened
    """The database has no such table, or shows none to this user."""

    remedy = "check table_name (NAME or SCHEMA.NAME, in the database's own case)"


class NoSuchField(DatabaseError):  # noqa: N818 - named for what happened
    """The table has no such column."""

    remedy = "check the names of columns, which are in the database's own case"


class PermissionRefused(DatabaseError):  # noqa: N818 - named for what happened
    """The user may not do this."""

    remedy = "grant it to the datasource's user"


class TransactionConflict(DatabaseError):  # noqa: N818 - named for what happened
    """The database ended the transaction because of another one; nothing of it is left."""

    retriable = True
    remedy = "run it again"


class ConstraintViolated(DatabaseError):  # noqa: N818 - named for what happened
    """A row breaks a constraint of the table."""


class DatabaseUnreachable(Unavailable):
    """The database cannot be reached, or the connection ended."""

    def __init__(self, *, about: str, detail: str) -> None:
        self.about, self.detail = about, detail
        super().__init__(f"{about} is unreachable: {detail}; check the end point, and that the server runs")


class DatabaseTimeout(Unavailable):
    """The database did not answer in time, or ended the statement."""

    def __init__(self, *, about: str, detail: str) -> None:
        self.about, self.detail = about, detail
        super().__init__(f"{about} did not answer in time: {detail}; the server may be overloaded or locked")


class DriverMissing(InvalidInput):
    """The JDBC driver cannot be loaded."""

    def __init__(self, *, about: str, driver: str, detail: str) -> None:
        self.about, self.driver = about, driver
        super().__init__(f"{about}: the JDBC driver {driver} cannot be loaded: {detail}; check driver: class and jars")


class CredentialMissing(InvalidInput):
    """The source of a datasource's password has none."""

    def __init__(self, *, about: str, detail: str) -> None:
        self.about = about
        super().__init__(f"{about}: {detail}")
