"""Who runs something, on which machine, with which versions (DESIGN section 6, Run)."""

from __future__ import annotations

import os
import platform
import pwd
import re
import socket
from collections.abc import Mapping

from toolkit import __version__
from toolkit.el.zones import ZONE_DATA
from toolkit.ledger.runs.rows import Origin

LOG_VARIABLE = "FEEDCTL_LOG"
"""Environment variable in which a scheduler says where the log of a run is."""

_CONTAINER = re.compile(r"container_(?:e\d+_)?(\d+_\d+)_\d+_\d+")


def current_user() -> str:
    """The name of the user whose rights this process has; its number when it has no name."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def versions() -> str:
    """Of feedctl, Python and the time zone data: what a run's times and decisions depend on."""
    return f"feedctl {__version__}, Python {platform.python_version()}, tzdata {ZONE_DATA}"


def origin_here(environment: Mapping[str, str], *, snapshot: str | None = None, digest: str | None = None) -> Origin:
    """This process as the origin of runs.

    Args:
        environment: of the process.
        snapshot: the state of the config repo that was read.
        digest: of the merged entity.
    """
    return Origin(
        who=current_user(),
        snapshot=snapshot,
        digest=digest,
        versions=versions(),
        host=socket.gethostname(),
        pid=os.getpid(),
        log_location=environment.get(LOG_VARIABLE) or None,
        application_id=application_id(environment),
    )


def application_id(environment: Mapping[str, str]) -> str | None:
    """What YARN or Kubernetes knows the application by, as far as the environment says it.

    In YARN's cluster mode the driver is in a container, whose name has the application's number in it.
    """
    named = environment.get("SPARK_APPLICATION_ID")
    if named:
        return named
    container = _CONTAINER.fullmatch(environment.get("CONTAINER_ID", ""))
    return f"application_{container[1]}" if container else None
