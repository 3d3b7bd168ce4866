"""Shipping of spooled events: each is sent until a receiver acknowledges or refuses it, and never after that."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from toolkit.entities.lineage import LineageCredential, LineageTransport, OpenLineageSettings
from toolkit.entities.monitoring_formats import webhook_host
from toolkit.lineage.spool import Spool, opened
from toolkit.notify.channel import ChannelUnavailable, MessageRefused, visible

if TYPE_CHECKING:
    import requests

    from toolkit.variables import Variables

_CONNECT_SECONDS, _ANSWER_SECONDS, _LEAST_SECONDS = 5.0, 10.0, 0.01
"""So long a receiver may take to be connected to, and for an answer as a whole, if there is no less time left."""
_LONGEST_READ = 1_000
_ENDPOINT = "/api/v1/lineage"
_START_SECONDS = 60
"""So long the child may take besides the time for sending: a busy machine loads its modules slowly."""
_NOWHERE = tuple((os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_RDWR, 0) for each in (0, 1, 2))
_CHILD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from toolkit.lineage.ship import child
from toolkit.variables import process_variables
child(json.loads(sys.argv[2]), process_variables())
"""


@dataclass(kw_only=True, slots=True)
class Shipped:
    """Report of a shipping.

    Attributes:
        sent: events that the receiver has acknowledged.
        refused: events that the receiver will not take, or that a full disk cut; they are not sent again.
        failure: why further events wait; None: none do.
    """

    sent: int = 0
    refused: int = 0
    failure: str | None = None


def ship(
    spool: Spool,
    settings: OpenLineageSettings,
    hosts: Collection[str],
    variables: Variables,
    *,
    seconds: float = math.inf,
    patience: float = 0.0,
) -> Shipped:
    """Send what waits in a spool, in its order.

    Args:
        spool: of the events.
        settings: of the receiver.
        hosts: that events may be sent to.
        variables: of the process, with the key of the receiver.
        seconds: return after so long, all events together.
        patience: seconds to wait for another process that sends.
    """
    report, latest = Shipped(), time.monotonic() + seconds
    try:
        with _receiver(spool, settings, hosts, variables, latest) as send, closing(spool.waiting(patience)) as lines:
            for line in lines:
                if time.monotonic() >= latest:
                    report.failure = f"there was no time to send all in {seconds:g} s"
                    break
                try:
                    json.loads(line)
                    send(line)
                    report.sent += 1
                except (ValueError, MessageRefused):
                    report.refused += 1
    except (ChannelUnavailable, OSError) as error:
        report.failure = str(error)
    return report


def ship_beside(spool: Spool, settings: OpenLineageSettings, hosts: Collection[str], variables: Variables) -> None:
    """Have what waits in a spool sent; a server is not waited for, since a child of its own sends, and ends by itself.

    Raises:
        OSError: there can be no child.
    """
    if settings.transport is not LineageTransport.HTTP:
        ship(spool, settings, hosts, variables, seconds=settings.timeout)
        return
    order = {"file": str(spool.file), "settings": asdict(settings), "hosts": list(hosts)}
    modules = [each for each in sys.path if each]  # an empty one is the working directory, where others may write
    arguments = [sys.executable, "-I", "-c", _CHILD, json.dumps(modules), json.dumps(order)]
    os.posix_spawn(sys.executable, arguments, variables, file_actions=_NOWHERE, setsid=True)


def child(order: Mapping[str, Any], variables: Variables) -> None:
    """Send what waits, as `ship_beside` has ordered, and end this process after a limited time in any case."""
    given = dict(order["settings"])
    credential = given.pop("credential")
    own = None if credential is None else LineageCredential(**credential)
    settings = OpenLineageSettings(**{**given, "transport": LineageTransport(given["transport"])}, credential=own)
    signal.setitimer(signal.ITIMER_REAL, _START_SECONDS + 2 * settings.timeout)  # its signal ends the process
    spool = Spool(Path(order["file"]))
    ship(spool, settings, order["hosts"], variables, seconds=settings.timeout, patience=settings.timeout)


@contextmanager
def _receiver(
    spool: Spool, settings: OpenLineageSettings, hosts: Collection[str], variables: Variables, latest: float
) -> Iterator[Callable[[bytes], object]]:
    if settings.transport is LineageTransport.FILE:
        with opened(sent_file(spool), os.O_WRONLY | os.O_APPEND) as descriptor:
            yield partial(_write, descriptor)
    elif settings.transport is LineageTransport.CONSOLE:
        yield lambda line: sys.stderr.write(f"{line.decode(errors='replace')}\n")
    else:
        from toolkit.notify.limited_http import limited_session  # noqa: PLC0415 - takes 0.2 s

        def left(most: float) -> float:
            return max(_LEAST_SECONDS, min(most, latest - time.monotonic()))

        url = _address(settings, hosts)
        with limited_session(lambda: left(_ANSWER_SECONDS)) as session:
            session.headers.update({"Content-Type": "application/json", "User-Agent": "feedctl"})
            if settings.credential is not None:
                key = variables.get(settings.credential.env)
                if not key:
                    raise ChannelUnavailable(why=f"the environment variable {settings.credential.env} is not set")
                session.headers["Authorization"] = f"Bearer {key}"
            yield lambda line: _post(session, url, line, (left(_CONNECT_SECONDS), left(_ANSWER_SECONDS)))


def _write(descriptor: int, line: bytes) -> None:
    """Append a line; of one that a full disk cuts nothing stays, since it is sent again."""
    before = os.fstat(descriptor).st_size
    if os.write(descriptor, line + b"\n") <= len(line):
        os.ftruncate(descriptor, before)
        raise ChannelUnavailable(why="the disk is full")


def sent_file(spool: Spool) -> Path:
    """Return the file that the transport `file` appends to."""
    return spool.file.with_name(f"{spool.file.name}.jsonl")


def _address(settings: OpenLineageSettings, hosts: Collection[str]) -> str:
    """Return the URL for events, if its host is allowed."""
    url = settings.url or ""
    if webhook_host(url) not in {each.lower() for each in hosts}:
        raise ChannelUnavailable(why=f"the host {webhook_host(url)!r} is not in monitoring.allowed_hosts of repo.yaml")
    return url if urlsplit(url).path.strip("/") else url.rstrip("/") + _ENDPOINT


def _post(session: requests.Session, url: str, line: bytes, timeout: tuple[float, float]) -> None:
    from requests.exceptions import RequestException  # noqa: PLC0415 - loaded with the session
    from urllib3.exceptions import HTTPError  # noqa: PLC0415 - loaded with the session

    from toolkit.notify.limited_http import REFUSALS, cause_of  # noqa: PLC0415 - loaded with the session

    try:
        with session.post(url, data=line, timeout=timeout, allow_redirects=False, stream=True) as response:
            status = response.status_code
            response.raw.read(_LONGEST_READ, decode_content=False)  # a connection is used again after it
    except (RequestException, HTTPError, HTTPException, OSError, ValueError) as error:
        raise ChannelUnavailable(why=visible(cause_of(error))) from error
    if status in REFUSALS:
        raise MessageRefused(why=f"the receiver answered {status}")
    if status // 100 != 2:  # noqa: PLR2004 - a class of HTTP
        raise ChannelUnavailable(why=f"the receiver answered {status}; redirects are not followed")
