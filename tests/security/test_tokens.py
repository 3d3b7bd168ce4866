"""Tests of what proves who the operator is goes only where the operator says.

Defended: delegation tokens, Kerberos tickets and session tokens of S3. Against: whoever may change the config repo,
and points a store at a server of his own with `hadoop_conf` or an end point. The operator's are HADOOP_CONF_DIR, the
token file and the environment.

Not defended: an address that the operator names and that somebody else has taken over (its DNS name, or the way to it
over plain HTTP, of which a warning says so); what a NameNode that the operator names does with a token.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from requests import PreparedRequest, Response, Session
from requests.adapters import BaseAdapter

from tests.integration.http_answers import Answer, WebServer, as_json, serving
from tests.unit.config_source.checkouts import checkout
from tests.unit.storage.token_files import HDFS_TOKEN_AS_URL_TEXT, WRITABLE
from toolkit.bootstrap.config import RepoRequest
from toolkit.bootstrap.doctor import DoctorOptions, diagnose
from toolkit.clock import SystemClock
from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.el import CanonicalPath
from toolkit.storage import PermissionDenied, StorageFailure, StorageSpec, Unreachable, open_file_system
from toolkit.storage.cloud.azure_account import UnknownContainer
from toolkit.storage.cloud.file_system import opened
from toolkit.storage.cloud.http import Call, HttpClient
from toolkit.storage.hdfs import file_system as hdfs
from toolkit.storage.hdfs.tokens import handed_out, library_settings
from toolkit.storage.local.file_system import no_check
from toolkit.storage.s3 import file_system as s3
from toolkit.storage.trusted_addresses import (
    UntrustedAddress,
    UntrustedEndpoint,
    UntrustedKeyProvider,
    is_trusted_endpoint,
)
from toolkit.storage.webhdfs import file_system as webhdfs
from toolkit.storage.webhdfs.requests import NameNodes

_KERBEROS = {"hadoop.security.authentication": "kerberos"}
_DIRECTORY = {
    "type": "DIRECTORY",
    "length": 0,
    "modificationTime": 1500,
    "owner": "alice",
    "group": "staff",
    "permission": "755",
}
_STATUS, _LISTING = as_json({"FileStatus": _DIRECTORY}), as_json({"FileStatuses": {"FileStatus": []}})
"""The answer of an empty directory, whether it is asked for itself or for what is in it."""
_VARIABLES = ("HADOOP_CONF_DIR", "HADOOP_HOME", "HADOOP_TOKEN_FILE_LOCATION", "FEEDCTL_TRUSTED_ENDPOINTS")


@pytest.fixture(autouse=True)
def _nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*_VARIABLES, "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def web() -> Iterator[WebServer]:
    """A server of the attacker, or of the operator, as each test has it."""
    with serving(lambda request: _LISTING if "op=LISTSTATUS" in request else _STATUS) as server:
        yield server


@pytest.fixture
def token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The operator's token for ha-hdfs:ns1, as WebHDFS would carry it."""
    _token_file(tmp_path, monkeypatch, WRITABLE)
    return HDFS_TOKEN_AS_URL_TEXT


def _token_file(directory: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    (directory / "tokens").write_bytes(content)
    monkeypatch.setenv("HADOOP_TOKEN_FILE_LOCATION", str(directory / "tokens"))


def _service(scheme: str, *addresses: str, name: str = "ns1") -> dict[str, str]:
    key = {"hdfs": "rpc-address", "webhdfs": "http-address", "swebhdfs": "https-address"}[scheme]
    nodes = {f"nn{number}": address for number, address in enumerate(addresses)}
    return {
        "dfs.nameservices": name,
        f"dfs.ha.namenodes.{name}": ",".join(nodes),
        **{f"dfs.namenode.{key}.{name}.{node}": address for node, address in nodes.items()},
    }


def _operator_has(directory: Path, monkeypatch: pytest.MonkeyPatch, settings: Mapping[str, str]) -> None:
    properties = (f"<property><name>{key}</name><value>{value}</value></property>" for key, value in settings.items())
    (directory / "hdfs-site.xml").write_text(f"<configuration>{''.join(properties)}</configuration>")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(directory))


def _spec(scheme: str, authority: str, conf: Mapping[str, str] | None = None) -> StorageSpec:
    return StorageSpec(scheme=scheme, authority=authority, hadoop_conf=conf or {})


def _listed(spec: StorageSpec) -> None:
    list(webhdfs.opened(spec, no_check).list(CanonicalPath(spec.scheme, spec.authority, "/a")))


@pytest.mark.usefixtures("token")
def test_a_token_does_not_go_where_only_the_config_repo_says_its_name_service_is(web: WebServer) -> None:
    with pytest.raises(UntrustedAddress, match=rf"webhdfs://ns1: the delegation token .* {web.authority}.*not set"):
        _listed(_spec("webhdfs", "ns1", _service("webhdfs", web.authority)))
    assert web.seen == []


@pytest.mark.usefixtures("token")
def test_a_token_does_not_go_to_an_address_that_the_config_repo_puts_in_the_place_of_the_operators(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _operator_has(tmp_path, monkeypatch, _service("webhdfs", "nn.example:9870"))
    refused = r"expected one of nn\.example:9870, which HADOOP_CONF_DIR=.*FEEDCTL_TRUSTED_ENDPOINTS"
    for addresses in ((web.authority,), ("nn.example:9870", web.authority), (f"nn.example:9870@{web.authority}",)):
        with pytest.raises(UntrustedAddress, match=refused):
            _listed(_spec("webhdfs", "ns1", _service("webhdfs", *addresses)))
    assert web.seen == []


@pytest.mark.usefixtures("token")
def test_a_token_does_not_go_to_what_the_operator_names_for_another_service(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _operator_has(tmp_path, monkeypatch, _service("webhdfs", web.authority, name="ns2"))
    with pytest.raises(UntrustedAddress):
        _listed(_spec("webhdfs", "ns1", _service("webhdfs", web.authority)))
    assert web.seen == []


@pytest.mark.usefixtures("token")
def test_a_name_service_that_nobody_describes_is_no_host_for_its_token() -> None:
    with pytest.raises(UntrustedAddress, match="ns1:9870"):
        webhdfs.opened(_spec("webhdfs", "ns1"), no_check)


@pytest.mark.parametrize("does_repo_say_so_too", [True, False])
def test_a_token_goes_where_the_operator_says_and_over_http_with_a_warning(
    web: WebServer,
    token: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    *,
    does_repo_say_so_too: bool,
) -> None:
    conf = _service("webhdfs", web.authority)
    _operator_has(tmp_path, monkeypatch, conf)
    with caplog.at_level(logging.WARNING):
        _listed(_spec("webhdfs", "ns1", conf if does_repo_say_so_too else None))
    assert [token in each for each in web.seen] == [True]
    (warning,) = [each for each in caplog.messages if "plain HTTP" in each]
    assert "swebhdfs://ns1" in warning
    assert token not in warning


def test_the_operator_may_name_more_in_the_environment(
    web: WebServer, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FEEDCTL_TRUSTED_ENDPOINTS", f"https://{web.authority}")
    with pytest.raises(UntrustedAddress):
        _listed(_spec("webhdfs", "ns1", _service("webhdfs", web.authority)))
    for entry in (web.authority, f"http://{web.authority}/", f"webhdfs://{web.authority}"):
        web.seen.clear()
        monkeypatch.setenv("FEEDCTL_TRUSTED_ENDPOINTS", f"other:1, {entry}")
        _listed(_spec("webhdfs", "ns1", _service("webhdfs", web.authority)))
    assert [token in each for each in web.seen] == [True]


def test_a_host_that_resolves_to_the_number_in_a_token_does_not_get_it(
    web: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whose name it is may answer otherwise the next time; nor is another port of that machine the NameNode."""
    _token_file(tmp_path, monkeypatch, WRITABLE.replace(b"\x0bha-hdfs:ns1", b"\x0e127.0.0.1:8020"))
    for authority in (f"localhost:{web.port}", web.authority, "localhost:9870"):
        with pytest.raises(UntrustedAddress):
            _listed(_spec("webhdfs", authority))
    assert web.seen == []


def test_a_store_without_a_token_needs_nobodys_word(web: WebServer) -> None:
    _listed(_spec("webhdfs", web.authority))
    assert "user.name=" in web.seen[0]


@pytest.mark.parametrize(
    ("scheme", "authority", "operators", "is_named"),
    [
        ("webhdfs", "nn:9870", {}, False),
        ("webhdfs", "nn:9870", {"dfs.namenode.http-address": "NN:9870"}, True),
        ("webhdfs", "nn:1", {"dfs.namenode.http-address": "nn:9870"}, False),
        ("webhdfs", "nn", {"fs.defaultFS": "hdfs://nn:8020"}, True),
        ("swebhdfs", "nn:9871", {"fs.defaultFS": "hdfs://nn:8020"}, True),
        ("webhdfs", "nn:9871", {"fs.defaultFS": "hdfs://nn:8020"}, False),
        ("swebhdfs", "nn:9871", {"dfs.namenode.http-address": "nn:9871"}, False),
        ("hdfs", "nn", {"fs.defaultFS": "hdfs://nn"}, True),
        ("hdfs", "nn:9000", {"fs.defaultFS": "hdfs://nn"}, False),
        ("hdfs", "nn:9000", {"dfs.namenode.rpc-address.ns2.nn1": "nn:9000"}, True),
        ("hdfs", "ns2", {"fs.defaultFS": "hdfs://ns2", **_service("hdfs", "nn", name="ns1")}, True),
    ],
)
def test_a_ticket_goes_only_to_what_the_operator_names(
    tmp_path: Path, scheme: str, authority: str, operators: dict[str, str], *, is_named: bool
) -> None:
    port = {"hdfs": 8020, "webhdfs": 9870, "swebhdfs": 9871}[scheme]
    address = authority if ":" in authority else f"{authority}:{port}"
    with pytest.MonkeyPatch.context() as patch:
        _operator_has(tmp_path, patch, operators)
        environment = {"HADOOP_CONF_DIR": str(tmp_path)}
    spec = _spec(scheme, authority, _KERBEROS)
    if is_named:
        assert handed_out(spec, [address], _KERBEROS, environment) is None
        return
    with pytest.raises(UntrustedAddress, match="a Kerberos ticket would go to"):
        handed_out(spec, [address], _KERBEROS, environment)


def test_a_config_repo_that_asks_for_kerberos_gets_no_ticket(web: WebServer) -> None:
    with pytest.raises(UntrustedAddress, match="a Kerberos ticket"):
        _listed(_spec("webhdfs", "ns1", {**_service("webhdfs", web.authority), **_KERBEROS}))
    assert web.seen == []


def _proving(request: PreparedRequest) -> PreparedRequest:
    """Stands for a ticket, which is shown with each request."""
    request.headers["authorization"] = "Negotiate ticket"
    return request


def test_a_data_node_gets_what_the_name_node_put_into_the_address_and_no_ticket(web: WebServer) -> None:
    to = f"http://{web.authority}/webhdfs/v1/a?op=OPEN&delegation=block"
    with serving(lambda _: Answer(status=307, location=to)) as name_node:
        session = Session()
        session.auth = _proving
        name_nodes = NameNodes([f"http://{name_node.authority}"], session)
        name_nodes.opened(CanonicalPath("webhdfs", "ns1", "/a")).read()
        assert name_node.headers[0]["authorization"] == "Negotiate ticket"
    assert web.seen == ["GET /webhdfs/v1/a?op=OPEN&delegation=block"]
    assert "authorization" not in web.headers[0]


def test_httpfs_which_sends_to_itself_gets_the_ticket_again() -> None:
    def answer(request: str) -> Answer:
        return _STATUS if "data=true" in request else Answer(status=307, location=f"{base}/webhdfs/v1/a?data=true")

    with serving(answer) as httpfs:
        base = f"http://{httpfs.authority}"
        session = Session()
        session.auth = _proving
        NameNodes([base], session).opened(CanonicalPath("webhdfs", "ns1", "/a")).read()
        assert [each.get("authorization") for each in httpfs.headers] == ["Negotiate ticket"] * 2


class _Redirecting(BaseAdapter):
    """A NameNode that sends to this address; `calls` has the addresses of all requests."""

    def __init__(self, to: str) -> None:
        super().__init__()
        self.to = to
        self.calls: list[str] = []

    def send(self, request: PreparedRequest, *_: object, **__: object) -> Response:
        self.calls.append(str(request.url))
        response = Response()
        response.status_code, response.request = 307, request
        response.headers["location"] = self.to
        return response

    def close(self) -> None:
        """Nothing is held."""


def test_who_asked_over_https_is_not_sent_on_over_http(web: WebServer) -> None:
    session = Session()
    session.mount("https://", _Redirecting(f"http://{web.authority}/webhdfs/v1/a?delegation=secret"))
    with pytest.raises(StorageFailure, match="over http") as refused:
        NameNodes(["https://nn:9871"], session).opened(CanonicalPath("swebhdfs", "ns1", "/a"))
    assert "secret" not in str(refused.value)
    assert web.seen == []


@pytest.mark.usefixtures("token")
def test_the_library_of_hdfs_is_given_no_address_that_only_the_config_repo_has_for_a_token_or_ticket() -> None:
    with socket.create_server(("127.0.0.1", 0)) as attacker:
        attacker.settimeout(0.2)
        conf = _service("hdfs", f"127.0.0.1:{attacker.getsockname()[1]}")
        with pytest.raises(UntrustedAddress, match="hdfs://ns1: the delegation token"):
            hdfs.opened(_spec("hdfs", "ns1", conf), no_check).status(CanonicalPath("hdfs", "ns1", "/a"))
        other = {key.replace("ns1", "ns2"): value.replace("ns1", "ns2") for key, value in conf.items()}
        with pytest.raises(UntrustedAddress, match="hdfs://ns2: a Kerberos ticket"):
            hdfs.opened(_spec("hdfs", "ns2", {**other, **_KERBEROS}), no_check)
        with pytest.raises(TimeoutError):
            attacker.accept()


def test_capitals_in_the_name_of_a_service_do_not_hide_its_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Paths are in lower case, while the library asks for the token of the name as the settings have it."""
    _token_file(tmp_path, monkeypatch, WRITABLE.replace(b"ha-hdfs:ns1", b"ha-hdfs:NS1"))
    with pytest.raises(UntrustedAddress, match="the delegation token"):
        hdfs.opened(_spec("hdfs", "ns1", _service("hdfs", "127.0.0.1:1", name="NS1")), no_check)


def test_an_unreadable_token_file_does_not_let_tickets_out(tmp_path: Path) -> None:
    environment = {"HADOOP_TOKEN_FILE_LOCATION": str(tmp_path / "none")}
    with pytest.raises(UntrustedAddress, match="a Kerberos ticket"):
        library_settings(_spec("hdfs", "nn", _KERBEROS), ["nn:8020"], _KERBEROS, environment)


def test_a_key_server_is_the_operators_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library would show it a ticket, also where the NameNode itself asks for none."""
    key, value = "hadoop.security.key.provider.path", "kms://http@kms.example:9600/kms"
    spec = _spec("hdfs", "nn", {key: value})
    with pytest.raises(UntrustedKeyProvider, match=r"kms\.example"):
        hdfs.opened(spec, no_check)
    assert library_settings(_spec("hdfs", "nn"), ["nn:8020"], {}, {}) == {key: ""}
    _operator_has(tmp_path, monkeypatch, {key: value, "fs.defaultFS": "hdfs://nn"})
    hdfs.opened(spec, no_check)
    assert library_settings(spec, ["nn:8020"], {}, {"HADOOP_CONF_DIR": str(tmp_path)}) == {}


def _keys(monkeypatch: pytest.MonkeyPatch, session_token: str) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-secret-key")
    monkeypatch.setenv("AWS_SESSION_TOKEN", session_token)


def _request_s3(endpoint: str) -> None:
    system = s3.opened(_spec("s3", "b", {"fs.s3a.endpoint": endpoint, "fs.s3a.path.style.access": "true"}), no_check)
    system.status(CanonicalPath("s3", "b", "/a"))


def test_a_session_token_of_s3_does_not_go_to_an_end_point_that_only_the_config_repo_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _keys(monkeypatch, "session-token")
    with serving(lambda _: Answer(status=403)) as web:
        endpoint = f"http://{web.authority}"
        with pytest.raises(UntrustedEndpoint, match="AWS_ENDPOINT_URL_S3 or FEEDCTL_TRUSTED_ENDPOINTS"):
            _request_s3(endpoint)
        assert web.seen == []
        monkeypatch.setenv("FEEDCTL_TRUSTED_ENDPOINTS", endpoint)
        with pytest.raises(PermissionDenied, match="403"):
            _request_s3(endpoint)
        assert web.headers[0]["x-amz-security-token"] == "session-token"


def test_of_keys_an_end_point_of_the_config_repo_sees_a_signature_only(monkeypatch: pytest.MonkeyPatch) -> None:
    _keys(monkeypatch, "")
    with serving(lambda _: Answer(status=403)) as web, pytest.raises(PermissionDenied, match="403"):
        _request_s3(f"http://{web.authority}")
    assert web.headers
    assert "the-secret-key" not in f"{web.headers}{web.seen}"


@pytest.mark.parametrize(
    ("url", "is_trusted"),
    [
        ("https://s3.eu-west-1.amazonaws.com", True),
        ("https://s3.dualstack.eu-west-1.amazonaws.com", True),
        ("https://bucket.vpce-0123-abcd.s3.us-east-1.vpce.amazonaws.com", True),
        ("https://s3.cn-north-1.amazonaws.com.cn", True),
        ("http://s3.eu-west-1.amazonaws.com", False),
        ("https://s3.eu-west-1.amazonaws.com:8443", False),
        ("https://abc.execute-api.eu-west-1.amazonaws.com", False),
        ("https://ec2-1-2-3-4.compute-1.amazonaws.com", False),
        ("https://s3.eu-west-1.amazonaws.com.evil.example", False),
        ("https://evil.example/s3.eu-west-1.amazonaws.com", False),
        ("https://minio:9000", True),
        ("https://MINIO:9000/", True),
        ("http://minio:9000", False),
        ("http://ceph:80", True),
    ],
)
def test_amazons_own_end_points_and_the_operators_are_trusted(url: str, *, is_trusted: bool) -> None:
    environment = {"AWS_ENDPOINT_URL": "https://minio:9000", "FEEDCTL_TRUSTED_ENDPOINTS": "http://ceph:80"}
    assert is_trusted_endpoint(url, environment) is is_trusted


@pytest.mark.parametrize(
    "host",
    [
        *("3232235777:9000#.dfs.core.windows.net", "evil/x.dfs.core.windows.net", "a?b.dfs.core.windows.net"),
        *("evil.example", "acc.dfs.core.windows.net.evil.example", "acc.dfs.evil.example"),
        "acc.dfs.core.windows.net:1",
    ],
)
def test_an_account_of_azure_cannot_turn_the_address_into_another(host: str) -> None:
    with pytest.raises(UnknownContainer):
        opened(_spec("abfs", f"clicks@{host}"), no_check)


@pytest.mark.parametrize("key", ["fs.gs.storage.root.url", "fs.azure.storage.emulator.account.name"])
def test_a_config_repo_cannot_lead_google_or_azure_elsewhere(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the operator's variables name another server."""
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", "AccountName=shop;AccountKey=c2VjcmV0")
    conf = {key: "http://evil.example"}
    for scheme, authority, host in (
        ("gs", "bucket", "storage.googleapis.com"),
        ("abfs", "clicks@shop.dfs.core.windows.net", "shop.blob.core.windows.net"),
    ):
        system = opened(StorageSpec(scheme=scheme, authority=authority, hadoop_conf=conf), no_check)
        hosts: list[str] = []

        def noted(_: HttpClient, path: CanonicalPath, call: Call, *__: object, hosts: list[str] = hosts) -> None:
            hosts.append(urlsplit(call.url).netloc)
            raise Unreachable(path=path)

        monkeypatch.setattr(HttpClient, "send", noted)
        with pytest.raises(Unreachable):
            system.status(CanonicalPath(scheme, authority, "/a"))
        assert hosts == [host]


def _diagnosed(root: Path, conf: Mapping[str, str]) -> list[CheckResult]:
    """What `feedctl doctor` finds at the readonly end point, webhdfs://ns1, of a cluster with these settings."""
    written = "".join(f"  {key}: '{value}'\n" for key, value in conf.items())
    (root / "repo").mkdir()
    interfaces = f"{{write: {{endpoint: 'file://{root}'}}, readonly: {{endpoint: 'webhdfs://ns1'}}}}"
    files = {
        "repo.yaml": "name: tokens\n",
        "clusters/lake.yaml": f"kind: cluster\nname: lake\ninterfaces: {interfaces}\nhadoop_conf:\n{written}",
    }
    variables = {**os.environ, "PATH": ""}
    request = RepoRequest(config_repo=str(checkout(root / "repo", files)), variables=variables)
    checked = diagnose(DoctorOptions(repo=request, seconds=30), SystemClock().now())
    return [each.finding for each in checked if each.name == "readonly"]


@pytest.mark.usefixtures("token")
def test_doctor_says_so_before_a_run_does(web: WebServer, tmp_path: Path) -> None:
    (found,) = _diagnosed(tmp_path, _service("webhdfs", web.authority))
    assert (found.status, web.authority in found.found) == (CheckStatus.FAILED, True)
    assert "FEEDCTL_TRUSTED_ENDPOINTS" in found.todo
    assert web.seen == []


def test_doctor_warns_of_a_token_over_http(
    web: WebServer, token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _operator_has(tmp_path, monkeypatch, _service("webhdfs", web.authority))
    (found,) = [each for each in _diagnosed(tmp_path, _service("webhdfs", web.authority)) if "token" in each.found]
    assert (found.status, "swebhdfs" in found.todo) == (CheckStatus.WARNING, True)
    assert token not in f"{found}"


@pytest.mark.usefixtures("token")
def test_an_executor_that_gets_the_spec_refuses_as_the_driver_does(web: WebServer) -> None:
    with pytest.raises(UntrustedAddress):
        open_file_system(_spec("webhdfs", "ns1", _service("webhdfs", web.authority)))
