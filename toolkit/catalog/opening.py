"""From a small picklable spec to an open metastore (DESIGN section 1)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from toolkit.catalog.bound import read_only as for_reading
from toolkit.catalog.errors import MetastoreFailure
from toolkit.catalog.restricted import RestrictedMetastore

if TYPE_CHECKING:
    from toolkit.catalog.location_policy import LocationPolicy
    from toolkit.catalog.port import CatalogSpec, Metastore

_ADAPTER = "toolkit.catalog.adapters.hive"
"""Loaded when wanted: it needs pyspark, and starts Java."""
_SHARED: dict[tuple[object, ...], Metastore] = {}
_OPENING = threading.Lock()


def open_metastore(
    spec: CatalogSpec,
    policy: LocationPolicy,
    *,
    read_only: bool = False,
    before_effect: Callable[[], None] = lambda: None,
) -> Metastore:
    """The metastore that the spec describes; nothing is asked of it yet. Its connections are shared in this process.

    Args:
        spec: which metastore.
        policy: which of its locations are used.
        read_only: every mutating call fails with `ReadOnlyCatalog`.
        before_effect: called before every single change, from any thread; what it raises stops the change.

    Raises:
        InvalidInput: the end point cannot be used.
        MetastoreFailure: there is no pyspark here.
    """
    opened = RestrictedMetastore(_shared(spec), before_effect, policy)
    return for_reading(opened) if read_only else opened


def _shared(spec: CatalogSpec) -> Metastore:
    key = (spec.uris, tuple(sorted(spec.hadoop_conf.items())))
    with _OPENING:
        if key not in _SHARED:
            _SHARED[key] = _adapter(spec)
        return _SHARED[key]


def _adapter(spec: CatalogSpec) -> Metastore:
    try:
        module = import_module(_ADAPTER)
    except ModuleNotFoundError as error:
        if error.name not in {"pyspark", "py4j"}:
            raise
        detail = "tables need pyspark, which is not installed: install feedctl[spark], or start with spark-submit"
        raise MetastoreFailure(about=spec.uris, detail=detail) from error
    opened: Metastore = module.HiveMetastore(spec)
    return opened
