"""`python -m tests.testbed` (make testbed) keeps a test bed running until Ctrl-C and says what is where."""

from __future__ import annotations

import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.testbed.activemq import ActiveMQ
from tests.testbed.client import Testbed, TestbedFailed
from tests.testbed.clouds import Azure, Gcs
from tests.testbed.controller import Controller
from tests.testbed.hdfs import HdfsCluster
from tests.testbed.metastore import HiveMetastoreServer
from tests.testbed.missing import Missing
from tests.testbed.s3 import S3Store
from tests.testbed.spark import SparkStandalone

_BUCKET = "testbed"
_SERVERS = (
    *("hdfs", "restartable_hdfs", "metastore", "restartable_metastore"),
    *("spark", "s3", "gcs", "azure", "activemq"),
)


def _say(line: str = "") -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _hdfs(testbed: Testbed, name: str) -> None:
    cluster = HdfsCluster.of(testbed, name)
    _say(f"{name}: {cluster.uri}   {cluster.webhdfs}   superuser {cluster.superuser}, permissions on")
    _say(f"    export HADOOP_CONF_DIR={cluster.conf_dir}")
    _say(f"    hdfsn ls {cluster.uri}/")
    _say(f"    curl 'http://127.0.0.1:{cluster.http}/webhdfs/v1/?op=LISTSTATUS&user.name={cluster.superuser}'")
    _say(f"    logs, and kill -STOP/-CONT: {cluster.directory}, NameNode {cluster.namenode_pid}")
    _say()


def _metastore(testbed: Testbed, name: str) -> None:
    server = HiveMetastoreServer.of(testbed, name)
    _say(f"{name}: {server.uri}   warehouse {server.warehouse}, tables may lie on either HDFS")
    _say(f"    spark-submit --conf spark.hadoop.hive.metastore.uris={server.uri} SCRIPT")
    _say()


def _s3(testbed: Testbed) -> None:
    store = S3Store.of(testbed)
    with store.client() as client:
        client.create_bucket(Bucket=_BUCKET)
    _say(f"S3: {store.endpoint}   bucket s3://{_BUCKET}, any credentials")
    _say(f"    export {' '.join(f'{name}={value}' for name, value in store.environment.items())}")
    _say("    hadoop_conf of a cluster on it:")
    for name, value in store.settings.items():
        _say(f'        {name}: "{value}"')
    _say()


def _clouds(testbed: Testbed) -> None:
    for name, cloud in (("Google Cloud Storage", Gcs.of(testbed)), ("Azure", Azure.of(testbed))):
        spec = cloud.make_bucket(_BUCKET)
        _say(f"{name}: {spec.scheme}://{spec.authority}")
        for variable, value in cloud.environment.items():
            _say(f"    export {variable}='{value}'")
    _say()


def _spark(testbed: Testbed) -> None:
    cluster = SparkStandalone.of(testbed)
    _say(
        f"Spark: {cluster.master_url}   for --deploy-mode cluster: {cluster.rest_url}   http://127.0.0.1:{cluster.web}"
    )
    _say(f"    export SPARK_LOCAL_IP=127.0.0.1 SPARK_HOME={cluster.home}")
    _say(f"    spark-submit {' '.join(cluster.submit_options)} SCRIPT")
    _say()


def _activemq(testbed: Testbed) -> None:
    broker = ActiveMQ.of(testbed)
    _say(f"ActiveMQ: {broker.uri}   {broker.tls_uri}, SSL_CERT_FILE={broker.certificate}")
    _say()


def main() -> int:
    """Run until a signal; the exit code."""
    testbed, began = Testbed(controller=Controller.this_process()), time.monotonic()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        # Not closed by a `with`, which would wait for servers that come up before it lets Ctrl-C through.
        list(ThreadPoolExecutor().map(testbed.facts, _SERVERS))
        for name in ("hdfs", "restartable_hdfs"):
            _hdfs(testbed, name)
        for name in ("metastore", "restartable_metastore"):
            _metastore(testbed, name)
        _s3(testbed)
        _clouds(testbed)
        _spark(testbed)
        _activemq(testbed)
        _say(f"All is up after {time.monotonic() - began:.0f} s. Ctrl-C ends it, and everything in it is gone.")
        signal.pause()
    except KeyboardInterrupt:
        return 0
    except (Missing, TestbedFailed) as failure:
        sys.stderr.write(f"{failure}\n")
        return 1
    finally:
        testbed.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
