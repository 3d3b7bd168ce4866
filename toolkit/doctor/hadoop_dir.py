"""Whether HADOOP_CONF_DIR is what it should be: a directory with Hadoop's own files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from toolkit.doctor.findings import Finding, failed, ok, skipped, warning
from toolkit.storage import StorageSpec
from toolkit.storage.hadoop_conf import CONF_FILES, CONF_VARIABLE, conf_dir, hadoop_settings


def conf_dir_findings(variables: Mapping[str, str], undescribed: Sequence[str]) -> Iterator[Finding]:
    """One finding, or none when nobody needs it.

    Args:
        variables: of the environment.
        undescribed: end points on HDFS without a port that no settings of their cluster describe.

    Raises:
        NoHadoopConfDir: it is no directory.
        UnreadableHadoopConf: a file there is no Hadoop configuration.
    """
    directory = conf_dir(variables)
    if directory is None:
        if undescribed:
            todo = f"nothing to do if they are hosts; name services need {CONF_VARIABLE}, or hadoop_conf of the cluster"
            yield skipped(f"not set, so these are taken for hosts: {', '.join(undescribed)}", todo=todo)
        return
    settings = hadoop_settings(StorageSpec(scheme="hdfs"), variables)
    missing = [name for name in CONF_FILES if not (directory / name).is_file()]
    if len(missing) == len(CONF_FILES):
        todo = f"let {CONF_VARIABLE} name the directory that has them, or unset it"
        yield failed(f"{directory} has neither {' nor '.join(missing)}", todo=todo)
    elif missing:
        todo = f"nothing to do if {CONF_VARIABLE} says all that is needed without it; else see where it is"
        yield warning(f"{directory} has no {missing[0]}", todo=todo)
    else:
        yield ok(f"{directory}: {len(settings)} settings")
