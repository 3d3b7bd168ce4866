"""Acting on HDFS as the owner of the data: who that may be, the operator's environment says.

With Kerberos the owner is Hadoop's proxy user (HADOOP_PROXY_USER). Without it a process is whoever it says that it is
(HADOOP_USER_NAME), and hdfs-native has no proxy user. The libraries read both from the environment of the process, so
that a process acts as one user. A JVM that spark-submit started acts as the owner by ``--proxy-user``, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from toolkit.bootstrap.spark_user import spark_user
from toolkit.entities.values import property_text
from toolkit.errors import InvalidInput
from toolkit.runs.spark_submit import gateway_port
from toolkit.storage.hadoop_conf import asks_for_kerberos, operator_settings
from toolkit.variables import set_process_variable

if TYPE_CHECKING:
    from toolkit.entities import Cluster, Feed
    from toolkit.variables import Variables

ALLOWED, _PROXY, _TOKENS = "FEEDCTL_PROXY_USERS", "HADOOP_PROXY_USER", "HADOOP_TOKEN_FILE_LOCATION"


class NotActingAsOwner(InvalidInput):
    """A run that has to act as the owner of its feeds (`act_as_owner`), and cannot; nothing was touched.

    Args:
        why: what is wrong, and what to do.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"act_as_owner of repo.yaml: {why}")


def act_as_owner(
    pairs: Iterable[tuple[Feed, Cluster]], variables: Variables, jvm_user: Callable[[], str] = spark_user
) -> str:
    """Let this process act as the owner of feeds from now on, and return the name; without feeds it is empty.

    Args:
        pairs: the feeds, each with its cluster.
        variables: of the process.
        jvm_user: returns as whom the JVM acts that spark-submit has started.

    Raises:
        NotActingAsOwner: the feeds have several owners or none, the operator does not allow this one, or another
            identity would be used: a delegation token, another proxy user, or a JVM that is up already.
        NoHadoopConfDir, UnreadableHadoopConf: the operator's settings cannot be read.
    """
    chosen = list(pairs)
    if not chosen:
        return ""
    owner, conf = _owner(feed for feed, _ in chosen), operator_settings(variables)
    own = [{key: property_text(value) for key, value in cluster.hadoop_conf.items()} for _, cluster in chosen]
    kinds = {asks_for_kerberos({**conf, **each}) for each in own}
    if len(kinds) > 1:
        raise NotActingAsOwner(why="some of the clusters ask for Kerberos and some do not; choose one with --cluster")
    variable = _PROXY if kinds == {True} else "HADOOP_USER_NAME"
    proxy = variables.get(_PROXY, "")
    if proxy and (variable != _PROXY or proxy != owner):
        raise NotActingAsOwner(why=f"the owner is {owner}, and {_PROXY} is {proxy}; unset it")
    if variables.get(_TOKENS):
        raise NotActingAsOwner(why=f"a delegation token acts as the user that it was made for; unset {_TOKENS}")
    is_owner = variables.get(variable) == owner
    if not is_owner:
        _require_allowed(owner, variables)
    _require_same_in_jvm(owner, variable, variables, jvm_user)  # --proxy-user goes before what the variable says
    if not is_owner:
        set_process_variable(variable, owner)
    return owner


def _owner(feeds: Iterable[Feed]) -> str:
    owners = {each.name: "" if each.acl is None else each.acl.owner or "" for each in feeds}
    names = sorted(set(owners.values()))
    if "" in names:
        without = min(feed for feed, owner in owners.items() if not owner)
        raise NotActingAsOwner(why=f"feed {without} has no acl.owner; add it")
    if len(names) > 1:
        raise NotActingAsOwner(
            why=f"the feeds have the owners {', '.join(names)}, and a process acts as one user; choose feeds of one "
            f"owner with --feed, --group or --tag"
        )
    return names[0]


def _require_allowed(owner: str, variables: Variables) -> None:
    allowed = {each.strip() for each in variables.get(ALLOWED, "").split(",")} - {""}
    if owner not in allowed:
        raise NotActingAsOwner(
            why=f"the owner is {owner}, and the operator does not allow that: {ALLOWED} has "
            f"{', '.join(sorted(allowed)) or 'no names'}; add {owner} to it, where this process is started"
        )


def _require_same_in_jvm(owner: str, variable: str, variables: Variables, jvm_user: Callable[[], str]) -> None:
    if gateway_port(variables) is None:
        return
    other = jvm_user()
    if other != owner:
        who = other or "a user that it does not tell"
        raise NotActingAsOwner(
            why=f"spark-submit has started a JVM that acts as {who}, and the owner is {owner}; give spark-submit "
            f"--proxy-user {owner}, or set {variable}={owner} before, or start the entrypoint with python"
        )
