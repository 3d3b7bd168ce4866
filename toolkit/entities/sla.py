"""SLAs: by when instances of feeds and processes are expected."""

from dataclasses import dataclass

from toolkit.el import Frequency


@dataclass(frozen=True, kw_only=True, slots=True)
class SlaDeadline:
    """A time of the clock by which an instance is expected.

    The deadline of an instance is the first time that `cron` matches, on a day of the calendar, at or after the
    instance's time plus `after`.

    Attributes:
        cron: five fields of a cron expression.
        timezone: of the fields of `cron`, and of the days of the calendar.
        calendar: the name of a file ``calendars/NAME.yaml``; None: every day counts.
        after: None: the instance's time itself.
    """

    cron: str
    timezone: str = "UTC"
    calendar: str | None = None
    after: Frequency | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedSla:
    """When an instance of a feed should be available, and how much data it should have.

    Without a deadline both limits are there and count from the instance's time, in the feed's time zone. With one they
    count from the deadline; the instance is then late at the deadline itself if `high` is absent.

    Attributes:
        low: an instance that comes later is late.
        high: an instance that is not there by then is missing.
        deadline: None: `low` and `high` count from the instance's time.
        min_rows: an instance with fewer rows is empty; None: the number of rows does not matter.
        min_bytes: likewise for bytes.
        remind: time between two messages about an open alert; None: that of the repo.
    """

    low: Frequency | None = None
    high: Frequency | None = None
    deadline: SlaDeadline | None = None
    min_rows: int | None = None
    min_bytes: int | None = None
    remind: Frequency | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ProcessSla:
    """Longest time from an instance's nominal time to its start and to its end.

    Attributes:
        remind: time between two messages about an open alert; None: that of the repo.
    """

    should_start_in: Frequency | None = None
    should_end_in: Frequency | None = None
    remind: Frequency | None = None
