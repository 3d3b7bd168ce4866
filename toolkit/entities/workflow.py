"""Workflow of a process, and its handling of failures and late data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from toolkit.el import Frequency
from toolkit.entities.datasource import Credential
from toolkit.entities.mirror_work import MirrorSettings
from toolkit.entities.values import Properties
from toolkit.entities.vocabulary import Engine, LatePolicy, RetryPolicy, SparkSessionUse


@dataclass(frozen=True, kw_only=True, slots=True)
class SparkAttributes:
    """Settings of a spark-submit workflow (Falcon's spark-attributes).

    Attributes:
        class_: main class of a jar; the YAML key is `class`.
        conf: Spark settings.
        options: further options of spark-submit, as they are (Falcon's spark-opts).
        args: arguments after the input and output paths.
        session: of scripts of SQL; None: shared where that can be.
    """

    master: str | None = None
    mode: str | None = None
    name: str | None = None
    class_: str | None = None
    jar: str | None = None
    conf: Properties = field(default_factory=dict)
    options: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    session: SparkSessionUse | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A step of a workflow of several.

    Attributes:
        args: of a command, or of a Spark application after its paths; ``${name}`` stands for a property.
        inputs: names of the process's inputs that the step reads; None: all of them (BDRE: a sub-process consumes the
            batches of its own upstreams).
        recoverable: its success is kept when the process is rerun after a failure (BDRE's can_recover). False: a rerun
            runs it, and everything after it, again, since it leaves nothing behind that outlives the run.
    """

    name: str
    engine: Engine
    path: str
    args: tuple[str, ...] = ()
    inputs: tuple[str, ...] | None = None
    recoverable: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Workflow:
    """Workflow of a process: one engine with its path, or steps.

    Attributes:
        path: of the script, relative to the config repo, or a URI.
        args: as those of a step, for a workflow without steps.
        secrets: environment variables of the steps, and where their values are found.
        lib: files and directories that the workflow needs.
        mirror: what the engine `mirror` copies; it goes with that engine alone.
    """

    engine: Engine | None = None
    path: str | None = None
    name: str | None = None
    version: str | None = None
    args: tuple[str, ...] = ()
    secrets: Mapping[str, Credential] = field(default_factory=dict)
    lib: tuple[str, ...] = ()
    spark: SparkAttributes | None = None
    mirror: MirrorSettings | None = None
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Retry:
    """Number and times of the retries of a failed instance.

    Attributes:
        attempts: retries after the first try.
        on_timeout: a timed-out instance is retried too.
    """

    policy: RetryPolicy
    delay: Frequency
    attempts: int
    on_timeout: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class LateProcess:
    """When late data is looked for, and what runs then.

    Attributes:
        delay: absent only with the policy `final`.
        inputs: path of the workflow by input name.
    """

    policy: LatePolicy
    delay: Frequency | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
