"""Which account and whose identity Google Cloud Storage and Azure are asked with."""

from __future__ import annotations

import base64
import importlib
from datetime import UTC, datetime, tzinfo
from types import SimpleNamespace
from typing import Self

import pytest
from requests import Request, Session
from requests.exceptions import SSLError

from toolkit.el import CanonicalPath
from toolkit.errors import InvalidInput
from toolkit.storage import PermissionDenied, StorageFailure, StorageSpec, Unreachable
from toolkit.storage.cloud import extras, file_system, gcs
from toolkit.storage.cloud.azure_account import BadConnectionString, SharedKey, account_of
from toolkit.storage.cloud.extras import MissingExtra
from toolkit.storage.cloud.http import IdentityError
from toolkit.storage.local.file_system import no_check

SPEC = StorageSpec(scheme="abfs", authority="clicks@shop.dfs.core.windows.net")
KEY = base64.b64encode(b"secret").decode()


@pytest.mark.parametrize("cloud", ["windows.net", "chinacloudapi.cn", "usgovcloudapi.net"])
def test_a_container_is_asked_at_the_blob_host_of_its_own_cloud(cloud: str) -> None:
    spec = StorageSpec(scheme="abfs", authority=f"clicks@shop.dfs.core.{cloud}")
    account = account_of(spec, {"AZURE_STORAGE_ACCOUNT_KEY": KEY})
    assert account.url == f"https://shop.blob.core.{cloud}/clicks"


def test_a_connection_string_is_for_its_own_account_alone() -> None:
    known = f"DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={KEY};BlobEndpoint=http://127.0.0.1:1/shop/;"
    environment = {"AZURE_STORAGE_CONNECTION_STRING": known, "AZURE_STORAGE_ACCOUNT_KEY": KEY}
    assert account_of(SPEC, environment).url == "http://127.0.0.1:1/shop/clicks"
    other = StorageSpec(scheme="abfs", authority="clicks@other.dfs.core.windows.net")
    assert account_of(other, environment).url == "https://other.blob.core.windows.net/clicks"


@pytest.mark.parametrize("text", ["nonsense", "AccountName=shop", f"AccountKey={KEY}", "AccountName=shop;AccountKey=*"])
def test_a_connection_string_that_cannot_be_used_is_refused_without_being_repeated(text: str) -> None:
    with pytest.raises(BadConnectionString) as refused:
        account_of(SPEC, {"AZURE_STORAGE_CONNECTION_STRING": text})
    assert text not in str(refused.value)


def test_a_signature_is_of_the_method_the_headers_and_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    class Then(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls(2026, 3, 1, tzinfo=tz)

    monkeypatch.setattr("toolkit.storage.cloud.azure_account.datetime", Then)
    url = "https://shop.blob.core.windows.net/clicks/a%2Fb"
    signed = [
        Session()
        .prepare_request(Request(method, url, headers, data=body, params=params, auth=SharedKey("shop", KEY)))
        .headers["Authorization"]
        for method, headers, body, params in (
            ("PUT", {"x-ms-a": "1"}, b"12", {"comp": "block"}),
            ("DELETE", {"x-ms-a": "1"}, b"12", {"comp": "block"}),
            ("PUT", {"x-ms-a": "2"}, b"12", {"comp": "block"}),
            ("PUT", {"x-ms-a": "1"}, b"123", {"comp": "block"}),
            ("PUT", {"x-ms-a": "1"}, b"12", {"comp": "blocklist"}),
        )
    ]
    assert all(each.startswith("SharedKey shop:") for each in signed)
    assert len(set(signed)) == len(signed)


@pytest.mark.parametrize(("spec", "extra"), [(SPEC, "azure"), (StorageSpec(scheme="gs", authority="bucket"), "gcs")])
def test_a_missing_extra_is_named(spec: StorageSpec, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AZURE_STORAGE_CONNECTION_STRING", "AZURE_STORAGE_ACCOUNT_KEY", "STORAGE_EMULATOR_HOST"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(extras, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=rf"feedctl\[{extra}\]"):
        file_system.opened(spec, no_check)


@pytest.mark.parametrize("scheme", ["gs", "abfs"])
def test_a_secret_in_the_settings_is_refused_without_being_repeated(scheme: str) -> None:
    key = "fs.azure.account.key.acc.dfs.core.windows.net"
    with pytest.raises(InvalidInput, match=r"fs\.azure\.account\.key") as refused:
        file_system.opened(StorageSpec(scheme=scheme, authority="bucket", hadoop_conf={key: "hunter2"}), no_check)
    assert "hunter2" not in str(refused.value)


def test_googles_own_variable_names_another_server() -> None:
    for value, found in (("", ""), ("127.0.0.1:9", "http://127.0.0.1:9"), ("https://a:1/", "https://a:1")):
        assert gcs.emulator({"STORAGE_EMULATOR_HOST": value}) == found


def test_azures_tokens_are_sent_and_kept_until_shortly_before_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("toolkit.storage.cloud.azure_tokens")
    calls: list[str] = []

    def get_token(scope: str) -> object:
        calls.append(scope)
        return SimpleNamespace(
            token=f"t{len(calls)}", expires_on=datetime.now(UTC).timestamp() + 400 * (len(calls) - 1)
        )

    monkeypatch.setattr(module, "DefaultAzureCredential", lambda: SimpleNamespace(get_token=get_token))
    sign = module.AzureTokens()
    sent = [
        Session().prepare_request(Request("GET", "https://shop.example/", auth=sign)).headers["Authorization"]
        for _ in range(3)
    ]
    assert sent == ["Bearer t1", "Bearer t2", "Bearer t2"]
    assert set(calls) == {"https://storage.azure.com/.default"}


@pytest.mark.parametrize("is_passing", [True, False])
def test_who_cannot_prove_who_they_are_is_told_so(monkeypatch: pytest.MonkeyPatch, *, is_passing: bool) -> None:
    output = "no identity"

    def refuse(_: object) -> object:
        raise IdentityError(output, is_passing=is_passing)

    monkeypatch.setattr(file_system, "_google", lambda: refuse)
    monkeypatch.setattr("toolkit.storage.cloud.http.time.sleep", lambda _: None)
    system = file_system.opened(StorageSpec(scheme="gs", authority="bucket"), no_check)
    with pytest.raises(Unreachable if is_passing else PermissionDenied, match=output):
        system.status(CanonicalPath("gs", "bucket", "/a"))


def test_googles_errors_become_errors_of_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    module = importlib.import_module("toolkit.storage.cloud.google_tokens")
    for error, is_passing in ((module.TransportError("down"), True), (module.GoogleAuthError("none"), False)):

        def fail(error: Exception = error, **_: object) -> object:
            raise error

        monkeypatch.setattr(module.google.auth, "default", fail)
        with pytest.raises(IdentityError) as found:
            module.GoogleTokens()(Request("GET", "https://a.example/").prepare())
        assert found.value.is_passing is is_passing


def test_an_unknown_authority_is_no_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> object:
        output = "certificate verify failed"
        raise SSLError(output)

    monkeypatch.setattr(Session, "send", refuse)
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "https://127.0.0.1:1")
    system = file_system.opened(StorageSpec(scheme="gs", authority="bucket"), no_check)
    with pytest.raises(StorageFailure, match="REQUESTS_CA_BUNDLE"):
        system.status(CanonicalPath("gs", "bucket", "/a"))
