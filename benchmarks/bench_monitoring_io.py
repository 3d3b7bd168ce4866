"""1,000 mails of the outbox through a mail server, and 10,000 looks of one pass of the monitor at HDFS.

The mail server is a process of its own that answers at once. Each mail is noted in the ledger (SQLite) before the
next one is sent. For comparison `smtplib` alone sends the same mails over one connection, without a ledger. On HDFS,
100 feeds of others have 100 instances each, half of which are there; the looks of all of them are due in one pass.
"""

from __future__ import annotations

import argparse
import os
import smtplib
import tempfile
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa

from benchmarks.bench_monitoring import load
from tests.databases.ledgers import open_ledger
from tests.testbed.client import Testbed
from tests.testbed.controller import Controller
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.smtp import MailServer, mail_server
from toolkit.availability import DataAccess
from toolkit.el import CanonicalPath, Frequency, Unit
from toolkit.entities.monitoring import MailTls
from toolkit.ledger import outbox
from toolkit.ledger.database import Ledger
from toolkit.ledger.upgrade import upgrade
from toolkit.monitoring.monitor import Monitor
from toolkit.notify.delivery import Delivery
from toolkit.notify.mail import SmtpServer
from toolkit.notify.message import Message, MessageEvent, MessageSeverity
from toolkit.notify.routing import MAIL, MessageRoute, new_messages
from toolkit.storage import StorageSpec, open_file_system
from toolkit.threads import WorkerPool

MAILS, FEEDS, INSTANCES = 1_000, 100, 100
SENDER, RECIPIENT = "feedctl@example.com", "data-team@example.com"
_DAYS = Frequency(unit=Unit.DAYS, count=2)
_TEXT = "The instance is not available.\nRun `feedctl sla explain clicks` to see what is known of it.\n"

FEED = """\
kind: feed
name: {name}
external: true
frequency: hours(1)
locations: {{data: "{base}/{name}/${{YEAR}}-${{MONTH}}-${{DAY}}-${{HOUR}}"}}
sla: {{low: hours({instances}), high: hours({instances})}}
clusters: [{{name: primary, validity: {{start: 2026-01-01T00:00Z, end: 2999-01-01T00:00Z}}}}]
"""


def opened(folder: Path) -> Ledger:
    """Return a new ledger."""
    ledger = open_ledger(sa.URL.create("sqlite", database=str(folder / f"{uuid4().hex}.db")))
    upgrade(ledger)
    return ledger


def mails(number: int) -> list[Message]:
    """Return so many messages."""
    return [
        Message(
            message_id=f"bench-{each}",
            event=MessageEvent.ALERT_OPENED,
            severity=MessageSeverity.CRITICAL,
            subject=f"clicks on primary is late for the {each}th time",
            text=_TEXT,
            time="2026-03-20T12:00Z",
            status="OPEN",
            operation="ALERT",
            entity="clicks",
            entity_type="FEED",
            cluster="primary",
            thread="clicks",
        )
        for each in range(number)
    ]


def outbox_seconds(ledger: Ledger, server: MailServer, number: int) -> float:
    """Send messages of the outbox, and return the seconds."""
    route = MessageRoute(channel=MAIL, recipient=RECIPIENT)
    new = [row for each in mails(number) for row in new_messages(each, [route], _DAYS)]
    ledger.write(lambda tx: outbox.put(tx, new))
    channel = SmtpServer(host="127.0.0.1", port=server.port, tls=MailTls.NONE, sender=SENDER)
    delivery = Delivery(ledger=ledger, channel_of=lambda _: channel, owner="bench", is_gone=lambda _: False)
    began = time.perf_counter()
    report = delivery.run()
    seconds = time.perf_counter() - began
    assert report.sent == number, report
    return seconds


def smtplib_seconds(server: MailServer, number: int) -> float:
    """Send as many mails by the standard library alone, and return the seconds."""
    began = time.perf_counter()
    with smtplib.SMTP("127.0.0.1", server.port) as connection:
        for each in mails(number):
            mail = EmailMessage()
            mail["From"], mail["To"], mail["Subject"] = SENDER, RECIPIENT, each.subject
            mail.set_content(each.text)
            mail.add_alternative(f"<pre>{each.text}</pre>", subtype="html")
            connection.send_message(mail)
    return time.perf_counter() - began


def report_mails(folder: Path, number: int) -> None:
    """Print the figures of mails."""
    with mail_server(folder / "smtp") as server, closing(opened(folder)) as ledger:
        alone = smtplib_seconds(server, number)
        seconds = outbox_seconds(ledger, server, number)
        connections = len({each["peer"] for each in server.envelopes}) - 1
    print(f"{number:,} mails; load {os.getloadavg()[0]:.0f}")
    print(f"  outbox, each noted in the ledger        {seconds:8.2f} s   {connections} connection(s)")
    print(f"  smtplib alone over one connection       {alone:8.2f} s")


def write_repo(folder: Path, endpoint: str, base: str) -> Path:
    """Write a config repo whose feeds are on HDFS, and written by others."""
    cluster = f'kind: cluster\nname: primary\ninterfaces: {{write: {{endpoint: "{endpoint}"}}}}\n'
    files = {"repo.yaml": "name: bench\n", "clusters/primary.yaml": cluster}
    for number in range(FEEDS):
        text = FEED.format(name=f"feed_{number:03}", base=base, instances=INSTANCES)
        files[f"feeds/feed_{number:03}.yaml"] = text
    for name, text in files.items():
        path = folder / "repo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "repo"


def report_looks(folder: Path, testbed: Testbed) -> None:
    """Print the figures of a pass that looks at HDFS."""
    cluster = HdfsCluster.of(testbed)
    system = open_file_system(StorageSpec(scheme="hdfs", authority=f"127.0.0.1:{cluster.rpc}"))
    base = CanonicalPath("hdfs", f"127.0.0.1:{cluster.rpc}", f"/bench/{uuid4().hex}")
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    start = hour - timedelta(hours=INSTANCES + 1)  # no pass may be ahead of the clock
    hours = [start - timedelta(hours=each) for each in range(INSTANCES)]
    made = [
        base.child(f"feed_{number:03}").child(f"{hour:%Y-%m-%d-%H}") for number in range(FEEDS) for hour in hours[::2]
    ]
    WorkerPool(16, "bench").run_all(system.mkdirs, made)
    repository = load(write_repo(folder, f"hdfs://127.0.0.1:{cluster.rpc}", base.path))
    with closing(opened(folder)) as ledger:
        monitor = Monitor(
            ledger=ledger,
            repository=repository,
            data=lambda _: DataAccess(stores=lambda _: system),
            check=lambda: None,
            wall_clock=lambda: datetime.now(UTC),
            seconds=3600,
        )
        monitor.run(start + timedelta(minutes=1))
        began = time.perf_counter()
        result = monitor.run(start + timedelta(hours=INSTANCES, minutes=1))
        seconds = time.perf_counter() - began
    assert result.came == len(made), result.came
    print(f"{FEEDS * INSTANCES:,} instances on HDFS, half of them there; load {os.getloadavg()[0]:.0f}")
    print(
        f"  one pass that looks at all of them      {seconds:8.2f} s   {FEEDS * INSTANCES / seconds:.0f} looks a second"
    )


def main() -> int:
    """Print the figures; there is no goal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mails", type=int, default=MAILS, help="mails")
    parser.add_argument("--no-hdfs", action="store_true", help="leave HDFS out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="feedctl-bench-") as name:
        folder = Path(name)
        report_mails(folder, options.mails)
        if not options.no_hdfs:
            testbed = Testbed(controller=Controller.this_process())
            try:
                report_looks(folder, testbed)
            finally:
                testbed.end()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
