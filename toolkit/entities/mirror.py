"""The mirror entity: data that is kept equal on another cluster (Falcon feature list, Extensions)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from toolkit.el import Frequency
from toolkit.entities.sla import ProcessSla
from toolkit.entities.values import Acl, Notification, Validity
from toolkit.entities.vocabulary import Kind, Order
from toolkit.entities.workflow import Retry


@dataclass(frozen=True, kw_only=True, slots=True)
class Mirror:
    """A mirror as it is written; the loader expands it into the entities of its type (ADR 0104).

    Attributes:
        type: a built-in type, or the name of a file in `templates/`.
        cluster: that its processes run on.
        values: of its type.
    """

    KIND: ClassVar[Kind] = Kind.MIRROR

    name: str
    description: str | None = None
    owner: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    type: str
    cluster: str
    validity: Validity
    frequency: Frequency
    timezone: str = "UTC"
    order: Order = Order.FIFO
    retry: Retry | None = None
    sla: ProcessSla | None = None
    notification: Notification | None = None
    acl: Acl | None = None
    values: Mapping[str, Any] = field(default_factory=dict)
