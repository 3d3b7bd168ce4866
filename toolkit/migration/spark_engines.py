"""Hive scripts and Spark applications, which Spark runs."""

from __future__ import annotations

import posixpath
import shlex
from dataclasses import dataclass
from functools import partial

from typing_extensions import override

from toolkit.migration.draft import CannotConvert, Converted, Draft, as_is
from toolkit.migration.expressions import leave_calls
from toolkit.migration.job import FOLDER, URI, FalconWorkflow, Runs, own_path
from toolkit.migration.known import names_in
from toolkit.migration.xml_tree import Element


@dataclass(frozen=True, kw_only=True, slots=True)
class _Copied(Runs):
    """A script that is run out of the config repo; the user of the migration copies it there."""

    job: FalconWorkflow

    @override
    def place(self, path: str, script: str) -> Converted:
        del script
        own = own_path(path)
        found = URI.fullmatch(own)
        absolute = found["path"] if found else own
        place = f"{FOLDER}{posixpath.normpath('/' + absolute.lstrip('/'))}"
        self.job.todo(f"copy {path} to {place} in the config repo")
        return Converted(place, f"scripts of SQL are read from the config repo: copy {path} there")


HIVE_CHECKS = (
    "properties are ${name}, a text in quotes '${name}', also where it says ${hiveconf:name} or ${hivevar:name}",
    "a table's filter is ${falcon_INPUT_partition_filter_hive}, for $INPUT_filter of Falcon ${INPUT_filter}",
    "ADD JAR, TRANSFORM, dfs and ! commands, and CREATE INDEX are Hive's alone",
    "SET hive.* and SET mapreduce.* mean little to Spark",
    "dynamic partitions need spark: {conf: {hive.exec.dynamic.partition.mode: nonstrict}}",
    "transactional (ACID) tables of Hive cannot be written by Spark",
    "types differ in casts, in decimals and in dates before 1900: compare one instance with Falcon's",
)
"""Checks of a Hive script that Spark is to run."""


def hive(job: FalconWorkflow) -> Runs:
    """Run a script of Hive by Spark SQL."""
    runs = _Copied(job=job)
    job.put_engine("spark_sql", "Spark runs the script; the report lists what to check in it")
    job.put_path(runs)
    job.put_removals()
    _libraries(job)
    for each in HIVE_CHECKS:
        job.todo(f"check the script: {each}")
    return runs


@dataclass(frozen=True, kw_only=True, slots=True)
class _Application(Runs):
    """A jar or a Python file that Spark fetches itself."""

    job: FalconWorkflow

    @override
    def place(self, path: str, script: str) -> Converted:
        del script
        own = own_path(path)
        return _qualified(own, self.job) if own.startswith("/") else Converted(own)


def _qualified(path: str, job: FalconWorkflow) -> Converted:
    """A path of Falcon's is on the cluster's file system, one of Spark's without a scheme on the machine."""
    clusters = names_in(job.draft.document, ("clusters",))
    stores = list(dict.fromkeys(store for each in clusters if (store := job.known.endpoint(each, "write"))))
    if not stores:
        return Converted(path)
    note = "Falcon's paths are on the cluster's file system, which Spark wants to be told"
    if len(stores) > 1:
        job.todo(f"the process is on several file systems, and {path} is taken from {stores[0]} on all its clusters")
    return Converted(f"{stores[0].rstrip('/')}{path}", note)


def _libraries(job: FalconWorkflow) -> None:
    """Files that Spark adds by their endings."""
    if job.libraries is None or not job.libraries.text:
        job.draft.drop(job.libraries, "it is empty")
        return
    paths = [each.strip() for each in job.libraries.text.split(",") if each.strip()]
    files = [
        _qualified(each, job).value if each.startswith("/") else each
        for each in paths
        if "." in posixpath.basename(each)
    ]
    if not files:
        job.draft.drop(job.libraries, "Spark adds files, not directories: name the jars")
        return
    folders = len(paths) - len(files)
    note = "URIs of the cluster's file system" + (
        f"; {folders} directories are left out: name their files" if folders else ""
    )
    job.draft.put(job.libraries, ("workflow", "lib"), files, note)


_MASTERS = {"yarn-cluster": ("yarn", "cluster"), "yarn-client": ("yarn", "client")}


def spark(job: FalconWorkflow) -> Runs:
    """Submit an application."""
    runs = _Application(job=job)
    job.put_engine("spark_submit", "the same by spark-submit")
    job.put_removals()
    job.todo(
        "check the order of the arguments against the application's main: each input, each output, then its arg; a path"
        " is one argument, a table three: the partition filter (of an output, the partition), the table, the database"
    )
    attributes, pointer = job.spark, ("workflow", "spark")
    if attributes is None:
        job.put_path(runs)
        _libraries(job)
        return runs
    jar = attributes.child("jar")
    if jar is not None:
        job.draft.copy_text(jar, ("workflow", "path"), partial(runs.place, script=""))
        job.draft.drop(
            job.element.attribute("path"), "what runs is the jar; Falcon's directory of the workflow is not needed"
        )
    else:
        job.put_path(runs)
    _master(job.draft, attributes)
    job.draft.copy_text(attributes.child("name"), (*pointer, "name"))
    job.draft.copy_text(attributes.child("class"), (*pointer, "class"))
    job.draft.copy_text(attributes.child("spark-opts"), (*pointer, "options"), _options)
    for each in attributes.each("arg"):
        place = job.draft.end_of((*pointer, "args"))
        job.draft.copy_text(each, place)
        leave_calls(job.draft, each.text(), place, "the argument")
    _libraries(job)
    return runs


def _master(draft: Draft, spark: Element) -> None:
    master, mode = spark.child("master"), spark.child("mode")
    text = master.text().text if master is not None else ""
    if master is not None and text in _MASTERS:
        name, implied = _MASTERS[text]
        draft.put(
            master.text(), ("workflow", "spark", "master"), name, f"{text} is the master yarn with mode {implied}"
        )
        if mode is None:
            draft.add(("workflow", "spark", "mode"), implied, f"the master {text} says it")
    else:
        draft.copy_text(master, ("workflow", "spark", "master"))
    draft.copy_text(mode, ("workflow", "spark", "mode"), lambda word: as_is(word.lower()))


def _options(text: str) -> Converted:
    try:
        return Converted(list(shlex.split(text)), "each option and value by itself")
    except ValueError as error:
        expected = f"options with whole quotes ({error})"
        raise CannotConvert(expected) from error
