"""The environment of a step or a validation: a short list of the runner's variables, and what the operator adds.

The runner's environment has the secrets of the ledger, the broker and the stores. A step that prints its environment,
or a library that reports it, would tell them all. The config repo cannot add to the list; the operator can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

LISTED_VARIABLE = "FEEDCTL_STEP_VARIABLES"
"""Environment variable of the operator: names of more variables for steps, with commas; `AWS_*` means a prefix."""
OFFERED = "FEEDCTL_SECRET_"
"""So begin the variables that the `secrets` of a workflow may name; no step has them otherwise."""
WITHHELD_VARIABLE = "FEEDCTL_LEDGER_WITHHELD"
"""In the environment of a step: its runner works with a ledger of FEEDCTL_LEDGER, which steps do not get."""

_LEDGER = "FEEDCTL_LEDGER"
_BY_NAME_ALONE = (
    *("FEEDCTL_LEDGER", "FEEDCTL_BROKER_", "FEEDCTL_CATALOG_", "FEEDCTL_KAFKA_", "FEEDCTL_MAIL_", "FEEDCTL_WEBHOOK_"),
    *("FEEDCTL_OPENLINEAGE_", "FEEDCTL_DATASOURCE_", OFFERED),
)
"""A pattern of the operator's list does not mean these; their whole names do."""
_PASSED = frozenset(
    f"{prefix}{name}"
    for prefix, names in {
        "": "PATH HOME LANG LANGUAGE TZ TMPDIR USER LOGNAME SHELL TERM HOSTNAME LD_LIBRARY_PATH CLASSPATH VIRTUAL_ENV",
        "LC_": "ALL COLLATE CTYPE MESSAGES MONETARY NUMERIC TIME",
        "XDG_": "CACHE_HOME CONFIG_DIRS CONFIG_HOME DATA_DIRS DATA_HOME RUNTIME_DIR STATE_HOME",
        "SSL_CERT_": "FILE DIR",
        "JAVA_": "HOME TOOL_OPTIONS",
        "JDK_JAVA_": "OPTIONS",
        "SPARK_": "HOME CONF_DIR LOCAL_IP LOCAL_HOSTNAME LOCAL_DIRS DIST_CLASSPATH SUBMIT_OPTS LAUNCHER_OPTS",
        "HADOOP_": "HOME COMMON_HOME HDFS_HOME MAPRED_HOME YARN_HOME CONF_DIR CLASSPATH OPTS CLIENT_OPTS USER_NAME"
        " PROXY_USER TOKEN_FILE_LOCATION",
        "YARN_": "HOME CONF_DIR OPTS",
        "HIVE_": "HOME CONF_DIR",
        "PIG_": "HOME",
        "TEZ_": "HOME CONF_DIR",
        "PYTHON": "PATH HOME HASHSEED UNBUFFERED DONTWRITEBYTECODE PYCACHEPREFIX IOENCODING UTF8 NOUSERSITE USERBASE"
        " SAFEPATH WARNINGS FAULTHANDLER",
        "PYSPARK_": "PYTHON DRIVER_PYTHON SUBMIT_ARGS",
        "CONDA_": "PREFIX DEFAULT_ENV EXE PYTHON_EXE SHLVL",
        "KRB5": "CCNAME _CONFIG",
        "AWS_": "REGION DEFAULT_REGION CA_BUNDLE ENDPOINT_URL ENDPOINT_URL_S3",
        "FEEDCTL_": "REPO PYTHON TRUSTED_ENDPOINTS NO_CACHE LOG",
    }.items()
    for name in names.split()
)
"""Names in full: variables with a token or a password can also begin with `PYTHON` or `CONDA_`."""


def step_environment(variables: Mapping[str, str]) -> dict[str, str]:
    """Return what a step or a validation gets of the runner's environment.

    Args:
        variables: of the runner.
    """
    found = {name: text for name, text in variables.items() if name in _PASSED or _is_listed(name, variables)}
    if variables.get(_LEDGER) and _LEDGER not in found:
        found[WITHHELD_VARIABLE] = "1"
    return found


def offers(name: str, variables: Mapping[str, str]) -> bool:
    """Return whether the operator offers a variable to workflows that name it among their secrets.

    Args:
        name: of the variable.
        variables: of the runner.
    """
    return name.startswith(OFFERED) or _is_listed(name, variables)


def _is_listed(name: str, variables: Mapping[str, str]) -> bool:
    by_name = name.startswith(_BY_NAME_ALONE)
    return any(name == each or (not by_name and fnmatchcase(name, each)) for each in _listed(variables))


def _listed(variables: Mapping[str, str]) -> Iterator[str]:
    return (each.strip() for each in variables.get(LISTED_VARIABLE, "").split(",") if each.strip())
