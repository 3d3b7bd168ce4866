"""List of all metrics; `docs/reference` has its table, alert rules and a dashboard, which are generated from it.

Names follow the rules of Prometheus: base units, `_total` for counters, `_seconds` and `_bytes` as units.
"""

from __future__ import annotations

from toolkit.metrics.metric import Fold, MetricDefinition, MetricType, PrometheusRule

_SITE = ("entity", "cluster")
_ACTION = ("entity", "cluster", "action")
_SUBJECT = ("entity", "cluster", "action", "source")

UP = MetricDefinition(
    name="feedctl_up",
    help="1 if the ledger could be read, else 0; without it there are no other metrics.",
    rules=(
        PrometheusRule(
            name="FeedctlLedgerUnreachable",
            condition="$METRIC == 0",
            lasting="5m",
            severity="critical",
            summary="feedctl cannot read its ledger",
            todo="feedctl doctor",
        ),
    ),
)
BUILD = MetricDefinition(name="feedctl_build_info", help="Version of feedctl; always 1.", labels=("version",))
COLLECTED = MetricDefinition(
    name="feedctl_collected_timestamp_seconds",
    help="Time at which these metrics were collected, by the clock of the ledger's database.",
    unit="dateTimeAsIso",
    rules=(
        PrometheusRule(
            name="FeedctlMetricsStale",
            condition="time() - $METRIC > 900",
            lasting="5m",
            severity="warning",
            summary="feedctl has written no metrics for 15 minutes",
            todo="feedctl metrics",
        ),
    ),
)
SERIES_FOLDED = MetricDefinition(
    name="feedctl_series_folded",
    help="Number of time series beyond the bound, which are counted together as the entity `other`.",
    panel="Series counted as other",
)
ENTITY = MetricDefinition(
    name="feedctl_entity_info",
    help="Owner and domain of an entity, to join with other metrics; always 1.",
    labels=("entity", "kind", "owner", "domain"),
    fold=Fold.NONE,
)
SAFE_MODE = MetricDefinition(
    name="feedctl_safe_mode", help="1 if safe mode is on, so that no action starts, else 0.", panel="Safe mode"
)
SUSPENDED = MetricDefinition(
    name="feedctl_suspended", help="1 if an entity is suspended; absent otherwise.", labels=_SITE, panel="Suspended"
)
LAST_SUCCESS = MetricDefinition(
    name="feedctl_last_success_timestamp_seconds",
    help="Time at which the run of an action ended that succeeded last; absent: none has ever succeeded.",
    labels=_SUBJECT,
    fold=Fold.MIN,
    unit="dateTimeAsIso",
)
RUN_DURATION = MetricDefinition(
    name="feedctl_run_duration_seconds",
    help="Duration of the run that succeeded last.",
    labels=_SUBJECT,
    fold=Fold.MAX,
    unit="s",
    panel="Duration of the last run",
)
RUN_BYTES = MetricDefinition(
    name="feedctl_run_copied_bytes",
    help="Bytes that the run copied that succeeded last.",
    labels=_SUBJECT,
    unit="bytes",
    panel="Copied by the last run",
)
RUN_FILES = MetricDefinition(
    name="feedctl_run_copied_files", help="Files that the run copied that succeeded last.", labels=_SUBJECT
)
EVICTED = MetricDefinition(
    name="feedctl_run_evicted_instances",
    help="Instances that the run of retention evicted that succeeded last.",
    labels=_SITE,
    panel="Evicted by the last run",
)
VALIDATED_ROWS = MetricDefinition(
    name="feedctl_validated_rows",
    help="Rows of the newest instance of a feed that was validated; absent: unknown.",
    labels=_SITE,
    panel="Rows of the newest instance",
)
VALIDATED_FILES = MetricDefinition(
    name="feedctl_validated_files", help="Files of the newest instance of a feed that was validated.", labels=_SITE
)
VALIDATED_BYTES = MetricDefinition(
    name="feedctl_validated_bytes",
    help="Bytes of the newest instance of a feed that was validated.",
    labels=_SITE,
    unit="bytes",
)
RUNS = MetricDefinition(
    name="feedctl_runs_total",
    help="Runs that are over, by status; each attempt counts, a skipped instance once.",
    labels=(*_ACTION, "status"),
    type=MetricType.COUNTER,
    panel="Runs per hour",
    rules=(
        PrometheusRule(
            name="FeedctlRunsFailing",
            condition='increase($METRIC{status="failed"}[1h]) >= 3',
            lasting="0m",
            severity="warning",
            summary="{{ $labels.action }} of {{ $labels.entity }} on {{ $labels.cluster }} fails again and again",
            todo="feedctl instance triage",
        ),
    ),
)
RUNS_OPEN = MetricDefinition(
    name="feedctl_runs_open",
    help="Runs that are not over, by status: waiting, ready, running or suspended.",
    labels=(*_ACTION, "status"),
    panel="Open runs",
)
LEASE_WAITS = MetricDefinition(
    name="feedctl_lease_waits",
    help="Instances whose newest attempt was skipped because another run held a lease.",
    labels=_ACTION,
    panel="Waiting for a lease",
)
INSTANCES_OPEN = MetricDefinition(
    name="feedctl_instances_open",
    help="Instances of an entity with an SLA that are expected and not available.",
    labels=_SITE,
    panel="Open instances",
)
INSTANCES_LATE = MetricDefinition(
    name="feedctl_instances_late",
    help="Of the open instances, those that have missed a limit, or of which nothing is known.",
    labels=_SITE,
    panel="Late instances",
)
BEHIND = MetricDefinition(
    name="feedctl_behind_seconds",
    help="Time since the first limit that a late instance has missed, as in `feedctl sla backlog`; 0: none is late.",
    labels=_SITE,
    fold=Fold.MAX,
    unit="s",
    panel="Behind",
    rules=(
        PrometheusRule(
            name="FeedctlBehind",
            condition="$METRIC > 3600",
            lasting="5m",
            severity="warning",
            summary="{{ $labels.entity }} on {{ $labels.cluster }} is behind its SLA for more than an hour",
            todo="feedctl sla explain",
        ),
    ),
)
MISSED = MetricDefinition(
    name="feedctl_sla_missed_total",
    help="Instances that were not available in time, by the limit that they missed: low or high.",
    labels=(*_SITE, "level"),
    type=MetricType.COUNTER,
    panel="Missed SLAs per hour",
    rules=(
        PrometheusRule(
            name="FeedctlSlaMissed",
            condition='increase($METRIC{level="high"}[15m]) > 0',
            lasting="0m",
            severity="critical",
            summary="an instance of {{ $labels.entity }} on {{ $labels.cluster }} has missed its SLA",
            todo="feedctl sla status",
        ),
    ),
)
ALERTS_OPEN = MetricDefinition(
    name="feedctl_alerts_open",
    help="Alerts that are open, by kind and level.",
    labels=(*_SITE, "kind", "level"),
    panel="Open alerts",
    rules=(
        PrometheusRule(
            name="FeedctlAlertOpen",
            condition='sum by (kind, cluster) ($METRIC{level="high"}) > 0',
            lasting="10m",
            severity="warning",
            summary="{{ $value }} alerts of kind {{ $labels.kind }} are open on {{ $labels.cluster }}",
            todo="feedctl alert list",
        ),
    ),
)
MONITOR_PASS = MetricDefinition(
    name="feedctl_monitor_pass_timestamp_seconds",
    help="Time of the newest pass of the monitor; absent: there was none.",
    unit="dateTimeAsIso",
    rules=(
        PrometheusRule(
            name="FeedctlMonitorStopped",
            condition="time() - $METRIC > 1800",
            lasting="5m",
            severity="critical",
            summary="the monitor has not looked at any SLA for half an hour",
            todo="feedctl monitor",
        ),
    ),
)
OUTBOX_WAITING = MetricDefinition(
    name="feedctl_outbox_messages",
    help="Messages that are not sent yet.",
    labels=("channel",),
    panel="Messages that wait",
)
OUTBOX_AGE = MetricDefinition(
    name="feedctl_outbox_oldest_age_seconds",
    help="Age of the oldest message that is not sent yet; 0: none waits.",
    labels=("channel",),
    unit="s",
    rules=(
        PrometheusRule(
            name="FeedctlMessagesWait",
            condition="$METRIC > 1800",
            lasting="5m",
            severity="warning",
            summary="messages have been waiting for half an hour in the channel {{ $labels.channel }}",
            todo="feedctl outbox list",
        ),
    ),
)
OUTBOX_DEAD = MetricDefinition(
    name="feedctl_outbox_dead_messages",
    help="Messages that were given up: expired, or refused by the receiver.",
    labels=("channel",),
    panel="Messages given up",
    rules=(
        PrometheusRule(
            name="FeedctlMessagesLost",
            condition="delta($METRIC[1h]) > 0",
            lasting="0m",
            severity="warning",
            summary="messages were given up in the channel {{ $labels.channel }}",
            todo="feedctl outbox list",
        ),
    ),
)
OUTBOX_FAILURES = MetricDefinition(
    name="feedctl_outbox_failures", help="Tries to send that failed in a row.", labels=("channel",)
)

METRICS = (
    UP,
    BUILD,
    COLLECTED,
    SERIES_FOLDED,
    ENTITY,
    SAFE_MODE,
    SUSPENDED,
    LAST_SUCCESS,
    RUN_DURATION,
    RUN_BYTES,
    RUN_FILES,
    EVICTED,
    VALIDATED_ROWS,
    VALIDATED_FILES,
    VALIDATED_BYTES,
    RUNS,
    RUNS_OPEN,
    LEASE_WAITS,
    INSTANCES_OPEN,
    INSTANCES_LATE,
    BEHIND,
    MISSED,
    ALERTS_OPEN,
    MONITOR_PASS,
    OUTBOX_WAITING,
    OUTBOX_AGE,
    OUTBOX_DEAD,
    OUTBOX_FAILURES,
)
"""All metrics, in the order in which they are exposed."""
