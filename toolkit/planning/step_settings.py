"""Settings that an entity may not give its steps: the operator's variables, and not to wait for their end; pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.entities import SparkAttributes, property_text

_OBEYED = re.compile(
    r"(?:LD_|DYLD_|BASH_FUNC_|PYTHON|PYSPARK_|FEEDCTL_).*|PATH|HOME|BASH_ENV|BASHOPTS|SHELLOPTS|PS4|GCONV_PATH"
    r"|GLIBC_TUNABLES|CLASSPATH|JAVA_HOME|(?:JAVA_TOOL|_JAVA|JDK_JAVA|NODE)_OPTIONS|PERL5(?:LIB|OPT)|RUBY(?:LIB|OPT)"
    r"|(?:SPARK|HADOOP|HIVE|YARN)_(?:HOME|CONF_DIR|OPTS)|SPARK_SUBMIT_OPTS|HADOOP_(?:CLASSPATH|CLIENT_OPTS)",
    re.DOTALL,
)

AWAITED = (
    "spark.standalone.submit.waitAppCompletion",
    "spark.yarn.submit.waitAppCompletion",
    "spark.kubernetes.submission.waitAppCompletion",
)
"""Settings of Spark that make spark-submit stay until its application ends, so that its exit code is the application's
(standalone masters do not by themselves)."""

_NO_RUN = frozenset({"--kill", "--status", "--version", "--help", "-h", "--usage-error"})
"""Options with which spark-submit does something else than to run an application, and exits with 0."""


def is_operators(name: str) -> bool:
    """Return whether only the operator may set a variable.

    It says to loaders, shells and interpreters which code they run, or to feedctl whom it trusts. So what a line of
    `properties` does can be seen in it, and an input is not called ``PATH`` by mistake.
    """
    return _OBEYED.fullmatch(name) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Unawaited:
    """A setting with which a step would be over before its application is.

    Attributes:
        place: below the workflow's `spark`: names of keys, places in lists.
        text: the setting as it stands there.
    """

    place: tuple[str | int, ...]
    text: str

    def __str__(self) -> str:
        """Return what was found, and why it is wrong."""
        return f"found {self.text!r}, with which a step would succeed before its application has"


def unawaited(spark: SparkAttributes) -> Iterator[Unawaited]:
    """The settings of a workflow that would not wait for the end of its application; `true` is fine."""
    for name in AWAITED:
        value = property_text(spark.conf.get(name, "true"))
        if not _waits(value):
            yield Unawaited(place=("conf", name), text=f"{name}={value}")
    for position, text in enumerate(spark.options):
        values = [text.partition(name)[2] for name in AWAITED if name in text]
        if text.partition("=")[0] in _NO_RUN or any(not _waits(each.lstrip(" =")) for each in values):
            yield Unawaited(place=("options", position), text=text)


def _waits(value: str) -> bool:
    """Return the value as Spark reads it."""
    return value.strip().lower() == "true"
