"""Settings of lineage (`lineage:` of `repo.yaml`): columns of SQL steps, and events of OpenLineage."""

from dataclasses import dataclass
from enum import StrEnum


class LineageTransport(StrEnum):
    """Way on which events of OpenLineage leave feedctl."""

    NONE = "none"
    """No events are made."""
    HTTP = "http"
    """They are posted to a server."""
    FILE = "file"
    """They are appended to a file beside the spool."""
    CONSOLE = "console"
    """They are written to standard error."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LineageCredential:
    """API key of a receiver of events, which is in an environment variable."""

    env: str


@dataclass(frozen=True, kw_only=True, slots=True)
class OpenLineageSettings:
    """Settings of OpenLineage.

    Attributes:
        transport: of the events.
        url: of the server, for `http`; without a path, events go to ``/api/v1/lineage``.
        credential: sent as a bearer token; None: the server takes events without one.
        timeout: seconds for sending at the end of an action, all events together.
        namespace: of jobs; None: the name of the config repo.
    """

    transport: LineageTransport = LineageTransport.NONE
    url: str | None = None
    credential: LineageCredential | None = None
    timeout: float = 2
    namespace: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LineageSettings:
    """Settings of lineage.

    Attributes:
        columns: whether the columns of SQL steps are recorded.
        openlineage: events for other tools.
    """

    columns: bool = True
    openlineage: OpenLineageSettings = OpenLineageSettings()
