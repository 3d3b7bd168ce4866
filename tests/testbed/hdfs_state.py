"""Readiness of an HDFS, as its servers report it over JMX."""

from __future__ import annotations

import json
from collections.abc import Mapping

from tests.testbed.waiting import becomes_true, state


def is_ready(namenode_http: int, datanode_http: int) -> bool:
    """Return whether the NameNode is out of safe mode, knows its DataNode, and the DataNode works."""
    system = _bean(namenode_http, "Hadoop:service=NameNode,name=FSNamesystemState")
    namenode = _bean(namenode_http, "Hadoop:service=NameNode,name=NameNodeInfo")
    datanode = _bean(datanode_http, "Hadoop:service=DataNode,name=DataNodeInfo")
    return system.get("NumLiveDataNodes") == 1 and not namenode.get("Safemode", "unknown") and _serves(datanode)


def becomes_ready(namenode_http: int, datanode_http: int, *, seconds: float) -> bool:
    """Return whether it is ready within the time."""
    return becomes_true(lambda: is_ready(namenode_http, datanode_http), seconds=seconds)


def _bean(port: int, name: str) -> Mapping[str, object]:
    beans = state(port, f"/jmx?qry={name}").get("beans")
    found = beans[0] if isinstance(beans, list) and beans else {}
    return found if isinstance(found, dict) else {}


def _serves(datanode: Mapping[str, object]) -> bool:
    actors = json.loads(str(datanode.get("BPServiceActorInfo", "[]")))
    return bool(actors) and all(actor.get("ActorState") == "RUNNING" for actor in actors)
