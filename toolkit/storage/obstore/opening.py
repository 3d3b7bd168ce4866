"""Google Cloud Storage and Azure (gs, abfs) through `obstore`: untested against the real services, and said so.

Only what obstore gives; it comes with an extra of its own. The adapter itself is in `toolkit.storage.obstore.files`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from toolkit.errors import InvalidInput
from toolkit.storage.hadoop_conf import refuse_secrets
from toolkit.storage.port import StorageSpec

if TYPE_CHECKING:
    from toolkit.storage.port import Bindable


_LOG = logging.getLogger(__name__)
_EXTRAS = {"gs": "gcs", "abfs": "azure"}
_LIBRARY = "obstore"


class MissingExtra(InvalidInput):
    """A part of feedctl that is installed only when it is asked for is not there.

    Args:
        scheme: of the store.
        extra: what to install.
    """

    def __init__(self, *, scheme: str, extra: str) -> None:
        self.scheme, self.extra = scheme, extra
        super().__init__(
            f"{scheme}:// needs what is not installed here; install it with: pip install 'feedctl[{extra}]'"
        )


def opened(
    spec: StorageSpec,
    before_effect: Callable[[], None],
    *,
    is_installed: Callable[[str], object] = find_spec,
) -> Bindable:
    """The file system of a bucket or container; nothing is asked of it yet. Warns that it is untested.

    Args:
        spec: scheme ``gs`` (authority: the bucket) or ``abfs`` (``container@account.dfs.core.windows.net``).
        before_effect: called before every request that changes something.
        is_installed: whether a library can be imported.

    Raises:
        InvalidInput: the extra is not installed, a setting carries a secret, or the container or its account cannot be
            told.
    """
    refuse_secrets(spec.hadoop_conf)
    if not is_installed(_LIBRARY):
        raise MissingExtra(scheme=spec.scheme, extra=_EXTRAS[spec.scheme])
    _LOG.warning(
        "%s://%s: this kind of store was never tested against the real service; try it on data that you can lose",
        spec.scheme,
        spec.authority,
    )
    system: Bindable = import_module("toolkit.storage.obstore.files").opened(spec, before_effect)
    return system
