"""Time and its texts: instants, frequencies, instance sequences, EL functions, path templates, waits; pure."""

from __future__ import annotations

from toolkit.el.availability import Availability, is_available
from toolkit.el.canonical_path import CanonicalPath, is_name
from toolkit.el.credentials import without_credentials
from toolkit.el.dataset_uri import DatasetGlob, DatasetUri
from toolkit.el.errors import Credentials, ElError, NoSuchInstance, NotAnInstance, OutOfRange, refuse_credentials
from toolkit.el.evaluation import evaluate
from toolkit.el.expression import Expression, parse_expression
from toolkit.el.frequency import Frequency, Unit, shift
from toolkit.el.functions import Function, Weekday
from toolkit.el.input_range import UnreadyRange, resolve_range
from toolkit.el.instants import EPOCH, at_microseconds, format_instant, microseconds_of, parse_instant, to_utc
from toolkit.el.name_services import name_service_aliases
from toolkit.el.path_template import PathTemplate
from toolkit.el.periods import PathPeriod
from toolkit.el.resolution import resolve
from toolkit.el.sequence import InstanceSequence
from toolkit.el.table_uri import TableUri
from toolkit.el.waits import WaitPolicy, late_checks, retry_waits
from toolkit.el.zones import load_zone, localize, to_local

__all__ = [
    "EPOCH",
    "Availability",
    "CanonicalPath",
    "Credentials",
    "DatasetGlob",
    "DatasetUri",
    "ElError",
    "Expression",
    "Frequency",
    "Function",
    "InstanceSequence",
    "NoSuchInstance",
    "NotAnInstance",
    "OutOfRange",
    "PathPeriod",
    "PathTemplate",
    "TableUri",
    "Unit",
    "UnreadyRange",
    "WaitPolicy",
    "Weekday",
    "at_microseconds",
    "evaluate",
    "format_instant",
    "is_available",
    "is_name",
    "late_checks",
    "load_zone",
    "localize",
    "microseconds_of",
    "name_service_aliases",
    "parse_expression",
    "parse_instant",
    "refuse_credentials",
    "resolve",
    "resolve_range",
    "retry_waits",
    "shift",
    "to_local",
    "to_utc",
    "without_credentials",
]
