"""Clusters, feeds, processes and datasources: models, schemas, YAML loading, merge rules, the graph, holds."""

from toolkit.alert_vocabulary import AlertKind, AlertLevel
from toolkit.entities.addresses import check_ledger_url
from toolkit.entities.calendar import Calendar
from toolkit.entities.cluster import STOMP_ENDPOINT, Cluster, ClusterLocations, Interface, Interfaces, Messaging
from toolkit.entities.datasource import Credential, Datasource, DatasourceInterface, DatasourceInterfaces, Driver
from toolkit.entities.documents import Document, Value
from toolkit.entities.env_references import MissingVariable, expand_path, expand_url
from toolkit.entities.errors import UnknownName
from toolkit.entities.exchange import ExportTarget, Extract, FeedExport, FieldSelection, Import, ImportSource, Load
from toolkit.entities.feed import Feed, FeedSchema, LateArrival
from toolkit.entities.feed_cluster import FeedCluster
from toolkit.entities.graph import EntityGraph
from toolkit.entities.holds import Hold, Holds
from toolkit.entities.layers import ValueOrigin
from toolkit.entities.loader import load, load_all
from toolkit.entities.locations import Locations
from toolkit.entities.lookup import PathOwner
from toolkit.entities.monitoring import (
    ChannelSettings,
    ChannelType,
    GroupAlerts,
    MailLogin,
    MailServer,
    MailTls,
    MetricsSettings,
    Monitoring,
    WebhookFormat,
    WebhookSecret,
)
from toolkit.entities.monitoring_formats import expand_webhook_url, webhook_host
from toolkit.entities.not_implemented import Area, NotImplementedValue, not_implemented
from toolkit.entities.pointers import path_text
from toolkit.entities.problems import ConfigError, ConfigProblem
from toolkit.entities.process import Input, Output, Process, ProcessCluster
from toolkit.entities.repo import Environment, LintSettings, MaxDelete, RepoSettings
from toolkit.entities.repository import Repository, Selection
from toolkit.entities.retention import Archive, FeedMaxDelete, Lifecycle, Protection, Retention, RetentionStage
from toolkit.entities.schema_store import Form, SchemaName, schema
from toolkit.entities.sla import FeedSla, ProcessSla, SlaDeadline
from toolkit.entities.source_files import ConfigFiles
from toolkit.entities.structure import Entity, to_document
from toolkit.entities.values import Acl, Notification, Properties, Validity, property_text
from toolkit.entities.vocabulary import (
    ClusterRole,
    DatasourceType,
    Engine,
    ExpiryAction,
    ExtractType,
    FirstRun,
    Kind,
    LatePolicy,
    LintLevel,
    LoadType,
    LocationType,
    MergePolicy,
    NotificationLevel,
    OnSourceDelete,
    Order,
    Prepare,
    ProtectionName,
    RetentionPolicy,
    RetentionType,
    RetryPolicy,
    SparkSessionUse,
)
from toolkit.entities.workflow import LateProcess, Retry, SparkAttributes, Step, Workflow
from toolkit.entities.yaml_location import Pointer, TextSpan

__all__ = [
    "STOMP_ENDPOINT",
    "Acl",
    "AlertKind",
    "AlertLevel",
    "Archive",
    "Area",
    "Calendar",
    "ChannelSettings",
    "ChannelType",
    "Cluster",
    "ClusterLocations",
    "ClusterRole",
    "ConfigError",
    "ConfigFiles",
    "ConfigProblem",
    "Credential",
    "Datasource",
    "DatasourceInterface",
    "DatasourceInterfaces",
    "DatasourceType",
    "Document",
    "Driver",
    "Engine",
    "Entity",
    "EntityGraph",
    "Environment",
    "ExpiryAction",
    "ExportTarget",
    "Extract",
    "ExtractType",
    "Feed",
    "FeedCluster",
    "FeedExport",
    "FeedMaxDelete",
    "FeedSchema",
    "FeedSla",
    "FieldSelection",
    "FirstRun",
    "Form",
    "GroupAlerts",
    "Hold",
    "Holds",
    "Import",
    "ImportSource",
    "Input",
    "Interface",
    "Interfaces",
    "Kind",
    "LateArrival",
    "LatePolicy",
    "LateProcess",
    "Lifecycle",
    "LintLevel",
    "LintSettings",
    "Load",
    "LoadType",
    "LocationType",
    "Locations",
    "MailLogin",
    "MailServer",
    "MailTls",
    "MaxDelete",
    "MergePolicy",
    "Messaging",
    "MetricsSettings",
    "MissingVariable",
    "Monitoring",
    "NotImplementedValue",
    "Notification",
    "NotificationLevel",
    "OnSourceDelete",
    "Order",
    "Output",
    "PathOwner",
    "Pointer",
    "Prepare",
    "Process",
    "ProcessCluster",
    "ProcessSla",
    "Properties",
    "Protection",
    "ProtectionName",
    "RepoSettings",
    "Repository",
    "Retention",
    "RetentionPolicy",
    "RetentionStage",
    "RetentionType",
    "Retry",
    "RetryPolicy",
    "SchemaName",
    "Selection",
    "SlaDeadline",
    "SparkAttributes",
    "SparkSessionUse",
    "Step",
    "TextSpan",
    "UnknownName",
    "Validity",
    "Value",
    "ValueOrigin",
    "WebhookFormat",
    "WebhookSecret",
    "Workflow",
    "check_ledger_url",
    "expand_path",
    "expand_url",
    "expand_webhook_url",
    "load",
    "load_all",
    "not_implemented",
    "path_text",
    "property_text",
    "schema",
    "to_document",
    "webhook_host",
]
