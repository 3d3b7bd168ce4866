"""Opening of a datasource: its end point, its driver, and its password from where the datasource says."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from toolkit.entities.datasource import Credential, Datasource, DatasourceInterface
from toolkit.entities.values import property_text
from toolkit.entities.vocabulary import DatasourceType
from toolkit.errors import InvalidInput
from toolkit.jdbc.dialect import dialect
from toolkit.jdbc.errors import CredentialMissing
from toolkit.jdbc.port import Database, JdbcAccess, Secret
from toolkit.variables import Variables

if TYPE_CHECKING:
    from toolkit.jdbc.gateway import JdbcGateway

_MARIADB = "jdbc:mariadb:"
_MOST_CHARACTERS = 1000
_DRIVERS = {
    DatasourceType.POSTGRES: "org.postgresql.Driver",
    DatasourceType.MYSQL: "org.mariadb.jdbc.Driver",
    DatasourceType.ORACLE: "oracle.jdbc.OracleDriver",
    DatasourceType.DB2: "com.ibm.db2.jcc.DB2Driver",
}
_HADOOP_JARS = ("hadoop-client-api-*.jar", "hadoop-client-runtime-*.jar", "slf4j-api-*.jar", "jcl-over-slf4j-*.jar")


def open_database(datasource: Datasource, variables: Variables, *, writes: bool = False) -> Database:
    """Open a datasource; nothing is connected before its first use.

    Args:
        datasource: of the config repo.
        variables: passwords, JAVA_HOME and the like.
        writes: open its write interface; otherwise readonly is preferred.

    Raises:
        InvalidInput: it has no such interface, driver or password.
        DatabaseError: no Java can be started, or the credential provider cannot be read.
    """
    try:
        from toolkit.jdbc.database import JdbcDatabase  # noqa: PLC0415 - py4j comes with Spark, which is an extra
        from toolkit.jdbc.gateway import JdbcGateway, spark_jars  # noqa: PLC0415
    except ModuleNotFoundError as error:
        message = f"{_about(datasource)} needs Spark's Python packages: pip install 'feedctl[spark]'"
        raise InvalidInput(message) from error
    access = database_access(datasource, variables, writes=writes)
    credential = _interface(datasource, writes=writes).credential or datasource.credential
    has_alias = credential is not None and credential.alias is not None
    gateway = JdbcGateway([*access.jars, *(spark_jars(*_HADOOP_JARS) if has_alias else ())], variables)
    with ExitStack() as on_error:
        on_error.callback(gateway.close)
        if credential is not None and has_alias:
            access = replace(access, password=_hadoop_password(access, credential, gateway))
        on_error.pop_all()
    return JdbcDatabase(access, dialect(datasource.type), gateway)


def database_access(datasource: Datasource, variables: Variables, *, writes: bool = False) -> JdbcAccess:
    """Return what opens connections, without the password of an alias, which only Java can read.

    Raises:
        InvalidInput: the datasource has no such interface, driver or password.
    """
    end = _interface(datasource, writes=writes)
    driver, credential = end.driver or datasource.driver, end.credential or datasource.credential
    driver_class = _DRIVERS.get(datasource.type, "") if driver is None else driver.class_
    if not driver_class:
        message = f"{_about(datasource)} has no driver; add driver: {{class: ..., jars: [...]}}"
        raise InvalidInput(message)
    own, given = dialect(datasource.type), {**datasource.properties, **end.properties}
    return JdbcAccess(
        name=_about(datasource),
        type=datasource.type,
        url=_url(end, driver_class),
        driver_class=driver_class,
        jars=() if driver is None else driver.jars,
        user=None if credential is None else credential.user,
        password=None if credential is None else _password(_about(datasource), credential, variables),
        properties={**own.properties, **{name: property_text(value) for name, value in given.items()}},
        init_statements=own.init_statements,
    )


def _interface(datasource: Datasource, *, writes: bool) -> DatasourceInterface:
    ends = datasource.interfaces
    end = ends.write if writes else ends.readonly or ends.write
    if end is None:
        message = f"{_about(datasource)} has no write interface, which an export needs"
        raise InvalidInput(message)
    return end


def _url(end: DatasourceInterface, driver_class: str) -> str:
    """Return the URL; for Spark, MariaDB has to look like MySQL, or names in quotes become texts."""
    url = end.endpoint
    if driver_class != _DRIVERS[DatasourceType.MYSQL]:
        return url
    url = f"jdbc:mysql:{url.removeprefix(_MARIADB)}" if url.startswith(_MARIADB) else url
    return url if "permitMysqlScheme" in url else f"{url}{'&' if '?' in url else '?'}permitMysqlScheme=true"


def _hadoop_password(access: JdbcAccess, credential: Credential, gateway: JdbcGateway) -> Secret:
    found = gateway.hadoop_secret(access, credential.alias or "", credential.provider or "")
    if found is None:
        detail = f"the credential provider {credential.provider} has no alias {credential.alias!r}"
        raise CredentialMissing(about=access.name, detail=detail)
    return Secret(found)


def _password(about: str, credential: Credential, variables: Variables) -> Secret | None:
    if credential.alias is not None:
        return None
    if credential.env is not None:
        found = variables.get(credential.env)
        if not found:
            detail = f"its password is in the environment variable {credential.env}, which is not set"
            raise CredentialMissing(about=about, detail=detail)
        return Secret(found)
    path = Path(credential.file or "")
    try:
        text = ""
        if path.is_file():
            with path.open(encoding="utf-8") as stream:
                text = stream.read(_MOST_CHARACTERS + 1).rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        detail = f"its password is in the file {path}, which cannot be read: {error}"
        raise CredentialMissing(about=about, detail=detail) from error
    if len(text) > _MOST_CHARACTERS or len(text.splitlines()) != 1:  # private keys and lists of users are no password
        expected = f"expected a file of one line with at most {_MOST_CHARACTERS} characters"
        detail = f"its password is in the file {path}, {expected}"
        raise CredentialMissing(about=about, detail=detail)
    return Secret(text)


def _about(datasource: Datasource) -> str:
    return f"datasource {datasource.name}"
