"""Checks of HADOOP_CONF_DIR, and what NameNodes report at their web addresses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import requests

from toolkit.doctor.findings import CheckResult, failed, ok, skipped, warning
from toolkit.foreign_json import MOST_BYTES, parse_json
from toolkit.storage import StorageSpec
from toolkit.storage.hadoop_conf import CONF_FILES, CONF_VARIABLE, conf_dir, hadoop_settings
from toolkit.storage.http_bodies import BoundedAdapter, body_of
from toolkit.storage.webhdfs.endpoints import name_node_urls


def conf_dir_findings(variables: Mapping[str, str], undescribed: Sequence[str]) -> Iterator[CheckResult]:
    """Yield one finding, or none when it is not needed.

    Args:
        variables: of the environment.
        undescribed: end points on HDFS without a port that no settings of their cluster describe.

    Raises:
        NoHadoopConfDir: it is no directory.
        UnreadableHadoopConf: a file there is no Hadoop configuration.
    """
    directory = conf_dir(variables)
    if directory is None:
        if undescribed:
            todo = f"nothing to do if they are hosts; name services need {CONF_VARIABLE}, or hadoop_conf of the cluster"
            yield skipped(f"not set, so these are taken for hosts: {', '.join(undescribed)}", todo=todo)
        return
    settings = hadoop_settings(StorageSpec(scheme="hdfs"), variables)
    missing = [name for name in CONF_FILES if not (directory / name).is_file()]
    if len(missing) == len(CONF_FILES):
        todo = f"let {CONF_VARIABLE} name the directory that has them, or unset it"
        yield failed(f"{directory} has neither {' nor '.join(missing)}", todo=todo)
    elif missing:
        todo = f"nothing to do if {CONF_VARIABLE} says all that is needed without it; else see where it is"
        yield warning(f"{directory} has no {missing[0]}", todo=todo)
    else:
        yield ok(f"{directory}: {len(settings)} settings")


_TIMEOUT = (3.0, 8.0)
_INFO, _STATUS = "NameNodeInfo", "NameNodeStatus"
_ACTIVE = "active"


@dataclass(frozen=True, kw_only=True, slots=True)
class NameNode:
    """State of a NameNode.

    Attributes:
        url: its web address.
        version: of Hadoop; empty: it did not tell.
        state: ``active``, ``standby``, ``observer``; empty: it did not tell.
        safe_mode: why it is in safe mode; empty: it is not.
        error: why it told nothing; empty: it did.
    """

    url: str
    version: str = ""
    state: str = ""
    safe_mode: str = ""
    error: str = ""


Beans = Callable[[str, str], Mapping[str, object]]
"""Asks a web address for the management bean of a name."""


def jmx_bean(url: str, name: str) -> Mapping[str, object]:
    """The management bean of a NameNode.

    Raises:
        requests.RequestException: it does not tell, or is no NameNode.
        ValueError: its answer is no such bean.
    """
    query = {"qry": f"Hadoop:service=NameNode,name={name}"}
    with requests.Session() as session:
        for protocol in ("http://", "https://"):
            session.mount(protocol, BoundedAdapter())
        with session.get(f"{url}/jmx", params=query, timeout=_TIMEOUT, allow_redirects=False, stream=True) as answer:
            answer.raise_for_status()
            answers: Any = parse_json(body_of(answer, MOST_BYTES))
    found = (answers.get("beans") or [{}])[0]
    return {**found}


def name_node(url: str, bean_of: Beans = jmx_bean) -> NameNode:
    """Return the state that one NameNode reports."""
    try:
        info, status = bean_of(url, _INFO), bean_of(url, _STATUS)
    except (requests.RequestException, ValueError, AttributeError, TypeError, LookupError) as error:
        return NameNode(url=url, error=type(error).__name__)
    version = str(info.get("Version", "")).partition(",")[0]
    return NameNode(
        url=url, version=version, state=str(status.get("State", "")), safe_mode=str(info.get("Safemode", "")).strip()
    )


def web_addresses(authority: str, settings: Mapping[str, str]) -> Sequence[str]:
    """Return the possible web addresses of the NameNodes of an `hdfs:` authority.

    Raises:
        UnknownNameNodes: a name service whose settings do not say.
    """
    if f"dfs.ha.namenodes.{authority}" in settings:
        return name_node_urls("webhdfs", authority, settings)
    host = authority.rpartition(":")[0] or authority
    return name_node_urls("webhdfs", settings.get("dfs.namenode.http-address", "") or host, settings)


def hadoop_findings(urls: Sequence[str], bean_of: Beans = jmx_bean) -> Iterator[CheckResult]:
    """Version, state and safe mode of the NameNodes behind the addresses."""
    nodes = [name_node(url, bean_of) for url in urls]
    answers = [node for node in nodes if not node.error and node.version]
    if not answers:
        silent = ", ".join(f"{node.url} ({node.error or 'no NameNode'})" for node in nodes)
        todo = "nothing to do if the write end point answers; else name dfs.namenode.http-address in hadoop_conf"
        yield skipped(f"version unknown: {silent}", todo=todo)
        return
    found = f"Hadoop {answers[0].version}; {', '.join(map(_described, nodes))}"
    if any(node.safe_mode and node.state == _ACTIVE for node in answers):
        yield warning(found, todo="nothing can be changed now: wait, or ask for hdfs dfsadmin -safemode leave")
    elif not any(node.state == _ACTIVE for node in answers):
        yield warning(found, todo="no NameNode is active: see why none of them took over")
    elif len(answers) < len(nodes):
        yield warning(found, todo="see why not all of them are up")
    else:
        yield ok(found)


def _described(node: NameNode) -> str:
    if node.error:
        return f"{node.url} does not answer ({node.error})"
    return f"{node.url} {node.state or 'of unknown state'}, {'in safe mode' if node.safe_mode else 'not in safe mode'}"
