"""Extension properties files of Falcon's recipes as mirrors (Falcon feature list, Extensions)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from toolkit.entities import Pointer
from toolkit.migration.conversions import (
    boolean,
    instant,
    permission,
    retry_policy,
    tags,
    template,
    whole_number,
    words,
)
from toolkit.migration.draft import Convert, Converted, Draft, as_is
from toolkit.migration.xml_tree import Element

_COMMON: dict[str, tuple[Pointer, Convert]] = {
    "jobName": (("name",), as_is),
    "jobTags": (("tags",), tags),
    "jobClusterName": (("cluster",), as_is),
    "jobValidityStart": (("validity", "start"), instant),
    "jobValidityEnd": (("validity", "end"), instant),
    "jobFrequency": (("frequency",), as_is),
    "jobTimezone": (("timezone",), as_is),
    "jobRetryPolicy": (("retry", "policy"), retry_policy),
    "jobRetryDelay": (("retry", "delay"), as_is),
    "jobRetryAttempts": (("retry", "attempts"), whole_number),
    "jobRetryOnTimeout": (("retry", "on_timeout"), boolean),
    "jobNotificationReceivers": (("notification", "email"), words),
    "jobAclOwner": (("acl", "owner"), as_is),
    "jobAclGroup": (("acl", "group"), as_is),
    "jobAclPermission": (("acl", "permission"), permission),
}


def _removed(text: str) -> Converted:
    return Converted("delete" if boolean(text).value else "keep", f"removeDeletedFiles: {text}")


_COPY: dict[str, tuple[str, Convert]] = {
    "sourceCluster": ("source_cluster", as_is),
    "targetCluster": ("target_cluster", as_is),
    "distcpMaxMaps": ("max_maps", whole_number),
    "maxMaps": ("max_maps", whole_number),
    "distcpMapBandwidth": ("map_bandwidth", whole_number),
    "mapBandwidth": ("map_bandwidth", whole_number),
    "tdeEncryptionEnabled": ("tde_encryption_enabled", boolean),
}
_SNAPSHOTS = {
    f"{side}SnapshotRetention{name}": (f"{side}_snapshot_retention", key, convert)
    for side in ("source", "target")
    for name, key, convert in (("AgeLimit", "limit", as_is), ("Number", "number", whole_number))
}
_OWN: dict[str, dict[str, tuple[str, Convert]]] = {
    "hdfs_snapshot": {
        "sourceSnapshotDir": ("source_snapshot_dir", template),
        "targetSnapshotDir": ("target_snapshot_dir", template),
    },
    "hive": {
        "sourceDatabases": ("source_databases", words),
        "sourceDatabase": ("source_databases", words),
        "sourceStagingPath": ("source_staging_path", template),
        "targetStagingPath": ("target_staging_path", template),
        "replicationMaxMaps": ("replication_max_maps", whole_number),
    },
    "hdfs": {
        "sourceDir": ("source_dir", template),
        "targetDir": ("target_dir", template),
        "overwrite": ("overwrite", boolean),
        "ignoreErrors": ("ignore_errors", boolean),
        "skipChecksum": ("skip_checksum", boolean),
        "removeDeletedFiles": ("on_source_delete", _removed),
    },
}
"""Values by Falcon's name, of each type; the first property of a type tells which one a file is of."""

_PRESERVED = ("BlockSize", "ReplicationNumber", "Permission", "User", "Group", "ChecksumType", "Acl", "Xattr", "Times")
_ELSEWHERE = {
    "jobNotificationType": "mail is the only way; `email` says whom",
    **dict.fromkeys(
        (f"{side}SnapshotRetentionPolicy" for side in ("source", "target")), "snapshots that go are deleted"
    ),
    **dict.fromkeys(
        (f"{side}{name}" for side in ("source", "target") for name in (
            "HiveServer2Uri", "HiveServer2UriExtraOpts", "HiveServer2ExtraOpts", "HiveServer2KerberosPrincipal",
            "HiveMetastoreUri", "HiveMetastoreKerberosPrincipal",
        )),
        "the interfaces and hadoop_conf of the cluster say where its metastore is",
    ),
}  # fmt: skip


def properties_tree(text: str) -> Element | None:
    """Return a properties file as a tree with an element for each property; None: it is of no recipe."""
    children = [_element(number, line) for number, line in _logical_lines(text) if line]
    root = Element(tag="mirror", namespace="", place="properties", line=1, attributes={}, children=children)
    return root if any(each.tag == "jobName" for each in children) else None


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines without comments, those that end with a backslash joined with the next, by their numbers."""
    parts: list[str] = []
    first = 0
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not parts and stripped.startswith(("#", "!")):
            continue
        first = first if parts else number
        parts.append(stripped.removesuffix("\\"))
        if not stripped.endswith("\\"):
            yield first, "".join(parts)
            parts = []
    if parts:
        yield first, "".join(parts)


def _element(number: int, line: str) -> Element:
    key = re.split(r"[\s=:]", line, maxsplit=1)[0]
    value = line[len(key) :].lstrip()
    value = value[1:].lstrip() if value.startswith(("=", ":")) else value
    text = re.sub(r"\\(.)", r"\1", value)
    return Element(tag=key, namespace="", place=key, line=number, attributes={}, children=[], _texts=[text])


def mirror(draft: Draft, root: Element) -> None:
    """Write the mirror of an extension's properties: those of every job, then those of the recipe."""
    draft.document["kind"] = str(draft.kind)
    for name, (pointer, convert) in _COMMON.items():
        draft.copy_text(root.child(name), pointer, convert)
    if isinstance(acl := draft.document.get("acl"), dict) and acl.get("owner"):
        draft.add(("owner",), acl["owner"], "who answers for it; this is the owner of its ACL")
    of = next((each for each, own in _OWN.items() if any(name in own for name in _names(root))), None)
    if of is None:
        expected = "sourceDir, sourceSnapshotDir or sourceDatabases, as a recipe of Falcon's has"
        draft.refuse(
            draft.root, "no-entity", f"found no property that tells the type of the mirror, expected {expected}"
        )
        return
    draft.add(("type",), of, "the recipe that its properties are of")
    for name, (key, convert) in (_COPY | _OWN[of]).items():
        draft.copy_text(root.child(name), ("values", key), convert)
    if of != "hive":
        _preserved(draft, root, of)
    _of_type(draft, root, of)
    for name, why in _ELSEWHERE.items():
        element = root.child(name)
        draft.drop(None if element is None else element.text(), why)


def _of_type(draft: Draft, root: Element, of: str) -> None:
    """Write what only one type has, or has in another form."""
    if of == "hdfs" and root.child("removeDeletedFiles") is None:
        _kept(draft)
    if of == "hdfs_snapshot":
        for name, (key, part, convert) in _SNAPSHOTS.items():
            draft.copy_text(root.child(name), ("values", key, part), convert)
    elif of == "hive":
        _unless(draft, root.child("sourceTables"), ("values", "source_tables"), words, "*")
        _unless(draft, root.child("maxEvents"), ("values", "max_events"), whole_number, "-1")


def _kept(draft: Draft) -> None:
    """Keep what the source no longer has, which Falcon removed by default: the owner has to say that it may go."""
    pointer = ("values", "on_source_delete")
    draft.add(pointer, "keep", "Falcon removes what the source no longer has unless removeDeletedFiles is false")
    draft.todo(
        draft.root,
        pointer,
        "without removeDeletedFiles Falcon removes at the target what the source no longer has, and feedctl keeps it:"
        " write delete or quarantine for that",
    )


def _names(root: Element) -> set[str]:
    return {each.tag for each in root.children}


def _preserved(draft: Draft, root: Element, of: str) -> None:
    for name in _PRESERVED:
        element = root.child(f"preserve{name}")
        if element is None:
            continue
        if name == "Times" and of == "hdfs_snapshot":
            draft.drop(element.text(), "a mirror by snapshots always keeps times")
        elif element.text().text.lower() == "true":
            word = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
            draft.put(element.text(), draft.end_of(("values", "preserve")), word, "a list names what is preserved")
        else:
            draft.drop(element.text(), "what is not listed is not preserved")


def _unless(draft: Draft, element: Element | None, pointer: Pointer, convert: Convert, everything: str) -> None:
    """Write a text, unless it stands for everything, as its absence does here."""
    if element is not None and element.text().text == everything:
        draft.drop(element.text(), "all, as when nothing is said")
    else:
        draft.copy_text(element, pointer, convert)
