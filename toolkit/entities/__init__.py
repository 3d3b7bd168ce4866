"""Clusters, feeds, processes and datasources: models, schemas, YAML loading, merge rules, the graph, holds."""

from toolkit.entities.addresses import check_ledger_url
from toolkit.entities.cluster import STOMP_ENDPOINT, Cluster, ClusterLocations, Interface, Interfaces, Messaging
from toolkit.entities.datasource import Credential, Datasource, DatasourceInterface, DatasourceInterfaces, Driver
from toolkit.entities.documents import Document, Value
from toolkit.entities.env_references import MissingVariable, expand_path, expand_url
from toolkit.entities.errors import UnknownName
from toolkit.entities.exchange import ExportTarget, Extract, FeedExport, FieldSelection, Import, ImportSource, Load
from toolkit.entities.feed import Feed, FeedSchema, LateArrival
from toolkit.entities.feed_cluster import FeedCluster, FeedSla
from toolkit.entities.graph import EntityGraph
from toolkit.entities.holds import Hold, Holds
from toolkit.entities.layers import ValueOrigin
from toolkit.entities.loader import load, load_all
from toolkit.entities.locations import Locations
from toolkit.entities.lookup import PathOwner
from toolkit.entities.not_implemented import Area, NotImplementedValue, not_implemented
from toolkit.entities.pointers import path_text
from toolkit.entities.problems import ConfigError, ConfigProblem
from toolkit.entities.process import Input, Output, Process, ProcessCluster, ProcessSla
from toolkit.entities.repo import Environment, LintSettings, MaxDelete, RepoSettings
from toolkit.entities.repository import Repository, Selection
from toolkit.entities.retention import Archive, FeedMaxDelete, Lifecycle, Protection, Retention, RetentionStage
from toolkit.entities.schema_store import Form, SchemaName, schema
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
    "Archive",
    "Area",
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
    "MaxDelete",
    "MergePolicy",
    "Messaging",
    "MissingVariable",
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
    "SparkAttributes",
    "SparkSessionUse",
    "Step",
    "TextSpan",
    "UnknownName",
    "Validity",
    "Value",
    "ValueOrigin",
    "Workflow",
    "check_ledger_url",
    "expand_path",
    "expand_url",
    "load",
    "load_all",
    "not_implemented",
    "path_text",
    "property_text",
    "schema",
    "to_document",
]
