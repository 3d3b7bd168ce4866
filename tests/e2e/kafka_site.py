"""A config repo with a feed whose source is a topic of a real broker."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from typing_extensions import override

from tests.e2e.iceberg_site import FEED, IngestRepo, QuickRepo
from tests.testbed.kafka_broker import KafkaBroker
from toolkit.ingest.errors import NoSuchIngestTable

_DIRECTORY = 'source: {directory: /inbox, pattern: "*.json"}'
_ARCHIVE = "      after: archive\n      archive: /archive\n"


@dataclass(frozen=True, kw_only=True)
class TopicRepo(QuickRepo):
    """A config repo with one feed, and its topic of two partitions.

    Attributes:
        broker: has the topic.
        topic: its name.
    """

    broker: KafkaBroker
    topic: str

    @classmethod
    def on(cls, root: Path, broker: KafkaBroker) -> Self:
        """Write the repo and make the topic."""
        IngestRepo.make(root)
        made = cls(root=root, broker=broker, topic=f"clicks-{secrets.token_hex(6)}")
        broker.make(made.topic, 2)
        made.write()
        return made

    def write(self, more: str = "") -> None:
        """Write the feed, with more settings of its source."""
        source = f'source: {{kafka: {self.topic}, bootstrap: "127.0.0.1:{self.broker.port}", group: feedctl{more}}}'
        text = FEED.replace(_DIRECTORY, source).replace(_ARCHIVE, "")
        (self.root / "repo/feeds/clicks.yaml").write_text(text)

    @override
    def put(self, name: str, words: list[str]) -> None:
        """Send words to the partition of a number; the rows belong to four instances."""
        rows = ({"ts": f"2026-03-20T0{at % 4}:30:00Z", "word": word} for at, word in enumerate(words))
        self.broker.send(self.topic, *(json.dumps(row).encode() for row in rows), partition=int(name))

    def progress(self) -> str:
        """Return the offsets that the table has; empty: none, or no table."""
        catalog = self.catalog()
        try:
            properties = catalog.open("web", "clicks").state().properties
        except NoSuchIngestTable:
            return ""
        finally:
            catalog.close()
        return properties.get(f"feedctl.writer.clicks.kafka.{self.topic}", "")

    def has_moved(self, before: str) -> bool:
        """Return whether there was a commit."""
        return self.progress() != before
