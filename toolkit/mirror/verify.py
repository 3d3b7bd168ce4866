"""Verification of mirrors: the files of the target are read again and compared with those of the source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from toolkit.actions.model import Problem
from toolkit.actions.verification import (
    BEING_COPIED,
    NOTHING_TO_COMPARE,
    Differences,
    TreeVerifier,
    VerifiedInstance,
    VerifyStatus,
)
from toolkit.entities.vocabulary import GoneAtSource
from toolkit.ledger.manifests import ManifestFile
from toolkit.storage import FileKind, NotFound, StorageError
from toolkit.transfer.trees import Tree, below, read_tree

if TYPE_CHECKING:
    from toolkit.el import CanonicalPath
    from toolkit.mirror.planner import MirrorPlanner
    from toolkit.mirror.tree_planner import TreePlanner


@dataclass(frozen=True, kw_only=True, slots=True)
class MirroredTree:
    """Target of a mirror, as its verification names it.

    Attributes:
        cluster: the target.
        counterpart: the source.
        instance_key: the instance that the target has; while it has none, the one that was asked for.
        target: the directory.
    """

    cluster: str
    counterpart: str
    instance_key: str
    target: CanonicalPath


def compare_trees(
    source: CanonicalPath, target: CanonicalPath, verifier: TreeVerifier, *, has_extra: bool = True
) -> Differences:
    """Compare the names, kinds and bytes of two trees; both are read whole, and feedctl's own names left out.

    Args:
        source: a directory.
        target: its copy.
        verifier: reads both.
        has_extra: what the source does not have is a difference.

    Raises:
        NotFound: the source is not there.
        StorageError: a side cannot be listed.
    """
    systems = [verifier.storage(root) for root in (source, target)]
    directories = all(each.capabilities.directories for each in systems)
    trees = [
        read_tree(system, root, verifier.check, directories=directories)
        for system, root in zip(systems, (source, target), strict=True)
    ]
    if trees[0] is None:
        raise NotFound(path=source)
    wanted, there, found = trees[0], trees[1] or {}, Differences()
    for name in sorted(_directories(wanted) - _directories(there)):
        found.add(below(target, name), VerifyStatus.MISSING, "the directory is not there")
    for name in sorted(_directories(there) - _directories(wanted)) if has_extra else ():
        found.add(below(target, name), VerifyStatus.EXTRA, "the source has no such directory")
    files = {name: ManifestFile(each.size) for name, each in wanted.items() if each.kind is FileKind.FILE}
    present = {name: each for name, each in there.items() if each.kind is FileKind.FILE}
    verifier.compare((source, target), files, present, found, has_extra=has_extra)
    return found


def _directories(tree: Tree) -> set[str]:
    return {name for name, each in tree.items() if each.kind is FileKind.DIRECTORY}


def verify_snapshot_mirror(
    planner: MirrorPlanner, clusters: tuple[str, str], instance_key: str, verifier: TreeVerifier
) -> VerifiedInstance:
    """Compare a target with the source's snapshot that it was made from, the newest that both sides have.

    Args:
        planner: looks at both sides.
        clusters: of the source, and of the target.
        instance_key: that was asked for.
        verifier: reads both sides.
    """
    root = planner.target.root
    tree = MirroredTree(cluster=clusters[1], counterpart=clusters[0], instance_key=instance_key, target=root)
    try:
        return _verified(planner, tree, verifier)
    except StorageError as error:
        return VerifiedInstance(target=tree, problem=Problem(code=error.code, message=str(error)))


def _verified(planner: MirrorPlanner, tree: MirroredTree, verifier: TreeVerifier) -> VerifiedInstance:
    common, source = planner.common(), planner.source
    if planner.is_unfinished():
        return VerifiedInstance(target=tree, problem=_BETWEEN)
    if not common:
        message = f"{source.root} and {tree.target} have no snapshot of this mirror in common: it has not run yet"
        return VerifiedInstance(target=tree, problem=Problem(code=NOTHING_TO_COMPARE, message=message))
    found = compare_trees(source.at(common), tree.target, verifier)
    if found.found and (planner.is_unfinished() or planner.common() != common):
        return VerifiedInstance(target=tree, problem=_BETWEEN)
    return found.of(replace(tree, instance_key=planner.rules.instance_key(common)))


def verify_tree_mirror(planner: TreePlanner, instance_key: str, verifier: TreeVerifier) -> VerifiedInstance:
    """Compare a target with its source, as both are now; what only the target has counts unless the mirror keeps it.

    Args:
        planner: has both sides.
        instance_key: that was asked for.
        verifier: reads both sides.
    """
    settings, root = planner.settings, planner.target
    cluster, counterpart = settings.target_cluster, settings.source_cluster
    tree = MirroredTree(cluster=cluster, counterpart=counterpart, instance_key=instance_key, target=root)
    has_extra = settings.on_source_delete is not GoneAtSource.KEEP
    try:
        found = compare_trees(planner.source, root, verifier, has_extra=has_extra)
        if found.found and planner.is_unfinished():
            return VerifiedInstance(target=tree, problem=_BETWEEN)
    except StorageError as error:
        return VerifiedInstance(target=tree, problem=Problem(code=error.code, message=str(error)))
    return found.of(tree)


_BETWEEN = Problem(
    code=BEING_COPIED,
    message="a run changes it, or was stopped in the middle; verify it again after the next run of the mirror",
)
