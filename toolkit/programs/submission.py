"""A Spark application by spark-submit: what is said on its command line, and how the application is ended."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from toolkit.entities import Cluster, SparkAttributes, SparkSessionUse, Workflow
from toolkit.entities.vocabulary import YARN_PRIORITIES
from toolkit.errors import InvalidInput
from toolkit.java import warn_of_missing_java
from toolkit.planning.step_settings import AWAITED, Unawaited, unawaited
from toolkit.programs.child import Program
from toolkit.programs.port import StepCall, StepEnd
from toolkit.programs.step_log import end_of, tag_of
from toolkit.programs.variables import (
    SecretUnavailable,
    properties_file,
    property_variables,
    providers,
    secret_variables,
)

_LOG = logging.getLogger(__name__)

APPLICATION = (
    r"(?:Submitted application|Connected to Spark cluster with app ID|[Dd]river successfully submitted as"
    r"|Submission successfully created as|feedctl: application)"
    r" (application_\d+_\d+|app-\d+-\d+|driver-\d+-\d+|local-\d+)"
)
"""Reports of YARN's client, a standalone master and `sql_runner`; a number elsewhere may be another's."""

_STATE = re.compile(r"State of driver (driver-\d+-\d+) is ([A-Z]+)")

_KILL_SECONDS = 60.0
_TAGS, _DEPLOY_MODE = "spark.yarn.tags", "spark.submit.deployMode"
_LISTED = re.compile(r"^\s*(application_\d+_\d+)\s", re.MULTILINE)
"""A line of `yarn application -list`."""


class NoProgram(InvalidInput):
    """A program that starts or ends applications is not there."""

    def __init__(self, *, name: str) -> None:
        super().__init__(f"found no {name}: set SPARK_HOME, or add its directory to PATH")


class WouldNotWait(InvalidInput):
    """The entity asks spark-submit not to stay until its application ends, so that its end would be unknown."""

    def __init__(self, *, found: Iterable[Unawaited]) -> None:
        self.found = tuple(found)
        super().__init__(f"{'; '.join(map(str, self.found))}; remove it: feedctl waits for the end of what it starts")


def submission(
    call: StepCall, application: str, arguments: Iterable[str], *, files: Iterable[Path] = (), tag: str | None = None
) -> Program:
    """An application with its settings: those of the cluster, then of the entity, of which the last of a name counts.

    Args:
        call: the step.
        application: a Python file or a jar.
        arguments: of the application.
        files: that the driver needs beside it, wherever it runs.
        tag: on YARN; None: that of the step.

    Raises:
        NoProgram: there is no spark-submit.
        WouldNotWait: the end would not be waited for.
        UnusableProperty, SecretUnavailable: see `variables`.
    """
    if found := tuple(unawaited(_spark(call))):
        raise WouldNotWait(found=found)
    master, mode = where(call.cluster, call.workflow)
    is_elsewhere = mode == "cluster"
    sent = [*files, properties_file(call)] if is_elsewhere else []
    options = [*_where_options(master, mode), *_libraries(call, sent), *_conf_options(call, tag or tag_of(call.log))]
    spark = _spark(call)
    if spark.class_:
        options += ["--class", spark.class_]
    path = _program(call.environment, "spark-submit")
    warn_of_missing_java(call.environment)
    return Program(
        path=path,
        arguments=(path, "--name", spark.name or call.step, *options, *spark.options, application, *arguments),
        variables=property_variables(call),
        secrets=_secrets(call, is_elsewhere=is_elsewhere),
        application=APPLICATION,
        end_application=partial(end_application, master=master, environment=call.variables),
    )


def where(cluster: Cluster, workflow: Workflow) -> tuple[str | None, str | None]:
    """The master and the deploy mode; None: Spark's own settings say."""
    interface, spark = cluster.interfaces.spark, workflow.spark or SparkAttributes()
    master, mode = spark.master or (interface.endpoint if interface else None), spark.mode
    if master in {"yarn-cluster", "yarn-client"}:
        return "yarn", mode or master.removeprefix("yarn-")
    return master, mode


def may_share(call: StepCall) -> bool:
    """Return whether a step of SQL may share an application: it wants no own one, and its driver may run here."""
    spark = _spark(call)
    _, mode = where(call.cluster, call.workflow)
    mode = str(spark.conf.get(_DEPLOY_MODE) or mode)
    options = any("deploy-mode" in each or _DEPLOY_MODE in each for each in spark.options)
    return spark.session is not SparkSessionUse.OWN and mode != "cluster" and not options


def true_end(end: StepEnd, log: Path) -> StepEnd:
    """The end of an application, where that of spark-submit tells less.

    It exits with 0 whatever became of a driver that a standalone master runs (seen with 4.1): its log says that.
    """
    if not end.succeeded or not (end.application or "").startswith("driver-"):
        return end
    states = [found[2] for found in _STATE.finditer(end_of(log)) if found[1] == end.application]
    if states[-1:] == ["FINISHED"]:
        return end
    how = f"ended as {states[-1]}" if states else "may still run: spark-submit did not wait for its end"
    return replace(end, message=f"the driver {end.application} {how}; the log is with the worker that ran it")


def end_application(application: str, *, master: str | None, environment: Mapping[str, str]) -> None:
    """End an application that lives without the process that submitted it; the others ended with theirs.

    What does not work is said in the log: the step is being stopped, and no more can be done.
    """
    try:
        command = _kill_command(application, master, environment)
        if command:
            _output_of(command, environment)
    except (OSError, InvalidInput, subprocess.SubprocessError) as error:
        _LOG.error("event=application_left application=%s why=%s", application, error)


def end_tagged(tag: str, shared_tags: Iterable[str], *, named: str, environment: Mapping[str, str]) -> None:
    """End the applications that YARN has under a tag now; problems are logged as by `end_application`.

    Args:
        tag: of the step, see `tag_of`.
        shared_tags: of the applications that the step may have shared, of which the named one is ended.
        named: the application that is said to be the step's; it is left alone when YARN has it under another tag.
        environment: of the client of YARN.
    """
    try:
        found = _tagged(tag, environment)
        for shared_tag in shared_tags:
            found += [each for each in ([] if named in found else _tagged(shared_tag, environment)) if each == named]
    except (OSError, InvalidInput, subprocess.SubprocessError) as error:
        _LOG.error("event=application_left application=%s why=%s", named, error)
        return
    for application in found:
        end_application(application, master=None, environment=environment)
    if named not in found:
        why = f"YARN has no active application of that number with the tag {tag}"
        _LOG.warning('event=application_left_alone application=%s why="%s"', named, why)


def _tagged(tag: str, environment: Mapping[str, str]) -> list[str]:
    """Return the active applications that YARN has under a tag; errors are those of `_yarn` and `_output_of`."""
    return _LISTED.findall(_output_of([_yarn(environment), "application", "-list", "-appTags", tag], environment))


def _output_of(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return what the site's own client prints.

    Raises:
        OSError: it cannot be started.
        SubprocessError: it failed, or did not answer in time.
    """
    done = subprocess.run(  # noqa: S603 - the site's own client
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_KILL_SECONDS,
        check=False,
    )
    if done.returncode:
        message = f"{command[0]} ended with exit code {done.returncode}: {done.stderr[-500:].strip()}"
        raise subprocess.SubprocessError(message)
    return done.stdout


def _yarn(environment: Mapping[str, str]) -> str:
    found = shutil.which("yarn", path=environment.get("PATH"))
    if found is None:
        raise NoProgram(name="yarn")
    return found


def _kill_command(application: str, master: str | None, environment: Mapping[str, str]) -> list[str]:
    if application.startswith("application_"):
        return [_yarn(environment), "application", "-kill", application]
    if application.startswith("driver-") and master:
        client = _program(environment, "spark-class")  # spark-submit asks the REST server, which is mostly off
        return [client, "org.apache.spark.deploy.Client", "kill", master, application]
    return []


def _spark(call: StepCall) -> SparkAttributes:
    return call.workflow.spark or SparkAttributes()


def _where_options(master: str | None, mode: str | None) -> Iterator[str]:
    if master:
        yield from ("--master", master)
    if mode:
        yield from ("--deploy-mode", mode)


def _libraries(call: StepCall, files: Iterable[Path]) -> Iterator[str]:
    """Libraries of the workflow by what they are; a relative one is in the config repo."""
    found: dict[str, list[str]] = {"--jars": [], "--py-files": [], "--files": [str(each) for each in files]}
    for each in call.workflow.lib:
        path = each if ":" in each.partition("/")[0] else str(call.directory / each)
        kind = {".jar": "--jars", ".py": "--py-files", ".zip": "--py-files", ".egg": "--py-files"}
        found[kind.get(Path(each).suffix, "--files")].append(path)
    for option, paths in found.items():
        if paths:
            yield from (option, ",".join(paths))


def _conf_options(call: StepCall, tag: str) -> Iterator[str]:
    awaited = dict.fromkeys(AWAITED, "true")
    conf = {**_of_cluster(call), **_of_instance(call), **_texts(_spark(call).conf), **awaited}
    conf[_TAGS] = ",".join(each for each in (conf.get(_TAGS, ""), tag) if each)
    for name, value in conf.items():
        yield from ("--conf", f"{name}={value}")


def _of_cluster(call: StepCall) -> dict[str, str]:
    conf = {f"spark.hadoop.{name}": value for name, value in _texts(call.cluster.hadoop_conf).items()}
    registry = call.cluster.interfaces.registry
    if registry is not None:
        conf |= {"spark.sql.catalogImplementation": "hive", "spark.hadoop.hive.metastore.uris": registry.endpoint}
        if registry.version and "spark.sql.hive.metastore.jars" in _spark(call).conf:
            conf["spark.sql.hive.metastore.version"] = registry.version  # without its jars Spark has one version only
    return conf


def _of_instance(call: StepCall) -> dict[str, str]:
    conf: dict[str, str] = {}
    if queue := call.properties.get("queueName"):
        conf["spark.yarn.queue"] = queue
    if priority := YARN_PRIORITIES.get(call.properties.get("jobPriority", "")):
        conf["spark.yarn.priority"] = priority
    if found := providers(call):
        conf["spark.hadoop.hadoop.security.credential.provider.path"] = ",".join(found)
    return conf


def _texts(conf: Mapping[str, str | int | float | bool]) -> dict[str, str]:
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in conf.items()}


def _secrets(call: StepCall, *, is_elsewhere: bool) -> dict[str, str]:
    found = secret_variables(call)
    if found and is_elsewhere:
        name = next(iter(found))
        why = "which does not reach a driver on the cluster; use alias and provider"
        raise SecretUnavailable(name=name, place="this machine", why=why)
    return found


def _program(environment: Mapping[str, str], name: str) -> str:
    home = environment.get("SPARK_HOME")
    found = shutil.which(name, path=f"{home}/bin" if home else environment.get("PATH"))
    if found is None:
        raise NoProgram(name=name)
    return found
