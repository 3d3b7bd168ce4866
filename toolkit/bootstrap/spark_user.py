"""User as whom the JVM that spark-submit started acts on Hadoop, which `--proxy-user` chooses and no variable tells."""

from __future__ import annotations


def spark_user() -> str:
    """Return the name of the user, asked of the JVM; empty: it does not answer."""
    from py4j.protocol import Py4JError  # noqa: PLC0415 - only a run by spark-submit needs it

    from toolkit.catalog.adapters.gateway import Java  # noqa: PLC0415 - loads pyspark

    try:
        known = Java().jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser()
        return str(known.getShortUserName())
    except (Py4JError, OSError):
        return ""
