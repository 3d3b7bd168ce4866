"""The datasource entity: a database to import from or export to (Falcon feature list, Import / export)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from toolkit.entities.values import Acl, Properties
from toolkit.entities.vocabulary import DatasourceType, Kind


@dataclass(frozen=True, kw_only=True, slots=True)
class Credential:
    """Source of a password; exactly one of env, file and alias is given, never the password itself.

    Attributes:
        user: user name.
        env: name of an environment variable.
        file: path of a file.
        alias: name in a Hadoop credential provider.
        provider: the provider's path; goes with `alias`.
    """

    user: str | None = None
    env: str | None = None
    file: str | None = None
    alias: str | None = None
    provider: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Driver:
    """A JDBC driver; `class_` has the YAML key `class`."""

    class_: str
    jars: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasourceInterface:
    """An end point; driver and credential fall back to the datasource's."""

    endpoint: str
    driver: Driver | None = None
    credential: Credential | None = None
    properties: Properties = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class DatasourceInterfaces:
    """The end points of a datasource; at least one is given."""

    readonly: DatasourceInterface | None = None
    write: DatasourceInterface | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Datasource:
    """A datasource.

    Attributes:
        colo: the data centre.
        version: rises with incompatible changes.
    """

    KIND: ClassVar[Kind] = Kind.DATASOURCE

    name: str
    description: str | None = None
    owner: str | None = None
    colo: str | None = None
    type: DatasourceType
    tags: Mapping[str, str] = field(default_factory=dict)
    interfaces: DatasourceInterfaces
    credential: Credential | None = None
    driver: Driver | None = None
    properties: Properties = field(default_factory=dict)
    acl: Acl | None = None
    version: int = 0
