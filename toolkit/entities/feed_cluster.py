"""Settings of a feed for one of its clusters (Falcon entity specification, Feed, File System Storage)."""

from dataclasses import dataclass

from toolkit.el import Frequency
from toolkit.entities.exchange import FeedExport, Import
from toolkit.entities.ingest import Ingest
from toolkit.entities.locations import Locations
from toolkit.entities.quality import Quality
from toolkit.entities.retention import Lifecycle, Retention
from toolkit.entities.sla import FeedSla
from toolkit.entities.trigger import Poll
from toolkit.entities.values import Validity
from toolkit.entities.vocabulary import ClusterRole, OnSourceDelete


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedCluster:
    """A feed on one cluster.

    Attributes:
        name: the cluster's name.
        type: source or target of replication; absent: not replicated.
        retention: absent: nothing is ever evicted here.
        partition: which part of an instance this source has, or this target takes.
        on_source_delete: what becomes here of a part that the source no longer has; absent: it is kept.
        delay: how long after its time an instance may be replicated.
        locations: override the feed's, type by type.
        table: overrides the feed's.
        sla: replaces the feed's.
        lifecycle: replaces the feed's.
        import_: the YAML key is `import`.
        version: the least version of the cluster that will do.
        keep_instances_beyond_validity: overrides the config repo's.
        quality: replaces the feed's.
        poll: how instances that others write are compared with the last poll; absent: they are not polled.
        ingest: streaming ingest into the feed's table; absent: other programs write its data.
    """

    name: str
    type: ClusterRole | None = None
    validity: Validity
    retention: Retention | None = None
    partition: str | None = None
    on_source_delete: OnSourceDelete | None = None
    delay: Frequency | None = None
    locations: Locations | None = None
    table: str | None = None
    sla: FeedSla | None = None
    lifecycle: Lifecycle | None = None
    import_: Import | None = None
    export: FeedExport | None = None
    version: int | None = None
    keep_instances_beyond_validity: bool | None = None
    quality: Quality | None = None
    poll: Poll | None = None
    ingest: Ingest | None = None
