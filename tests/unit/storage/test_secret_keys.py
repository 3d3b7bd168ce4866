"""Which settings are secrets: those of Hadoop's own documentation, and those beside them that only look like one."""

from __future__ import annotations

import pytest

from toolkit.storage.hadoop_conf import HIDDEN, SecretInSettings, is_secret, refuse_secrets, shown, without_secrets


@pytest.mark.parametrize(
    "key",
    [
        "fs.s3a.access.key",
        "fs.s3a.secret.key",
        "fs.s3a.secret.key ",
        " FS.S3A.Secret.Key",
        "fs.s3a.session.token",
        "fs.s3a.bucket.my-bucket.secret.key",
        "fs.s3a.server-side-encryption.key",
        "fs.s3a.encryption.key",
        "fs.s3a.proxy.password",
        "fs.s3n.awsSecretAccessKey",
        "fs.azure.account.key.acc.dfs.core.windows.net",
        "fs.azure.account.key.file.dfs.core.windows.net",
        "fs.azure.account.oauth2.client.secret.acc.dfs.core.windows.net",
        "fs.azure.account.oauth2.refresh.token",
        "fs.azure.sas.container.acc.blob.core.windows.net",
        "fs.azure.sas.fixed.token",
        "fs.gs.auth.service.account.private.key",
        "fs.gs.auth.service.account.private.key.id",
        "fs.gs.auth.client.secret",
        "ssl.client.keystore.keypassword",
        "hadoop.security.group.mapping.ldap.bind.password",
        "javax.jdo.option.ConnectionPassword",
    ],
)
def test_settings_that_carry_a_secret(key: str) -> None:
    assert is_secret(key)
    assert shown(key, "hunter2") == HIDDEN


@pytest.mark.parametrize(
    "key",
    [
        "",
        "fs.s3a.endpoint",
        "fs.s3a.bucket.secret.endpoint",
        "fs.s3a.aws.credentials.provider",
        "fs.s3a.security.credential.provider.path",
        "hadoop.security.credential.provider.path",
        "hadoop.security.key.provider.path",
        "hadoop.http.authentication.signature.secret.file",
        "dfs.encryption.key.provider.uri",
        "dfs.block.access.token.enable",
        "dfs.namenode.delegation.token.max-lifetime",
        "dfs.web.authentication.kerberos.keytab",
        "ssl.client.keystore.location",
        "fs.azure.account.auth.type.acc.dfs.core.windows.net",
        "fs.azure.account.keyprovider.acc.dfs.core.windows.net",
        "fs.azure.account.oauth2.client.endpoint",
        "fs.azure.account.oauth2.refresh.token.endpoint",
        "fs.azure.sas.token.provider.type",
        "fs.gs.auth.service.account.json.keyfile",
    ],
)
def test_settings_that_only_look_like_it(key: str) -> None:
    assert not is_secret(key)
    assert shown(key, "v") == "'v'"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://minio:9000", "https://minio:9000"),
        ("https://KEY:SE/CR@T@minio:9000/x", "https://***@minio:9000/x"),
        ("KEY:SECRET@minio:9000", "***@minio:9000"),
        ('no answer from "http://KEY:SECRET@h/b?sig=SECRET"', 'no answer from "http://***@h/b?***"'),
        ("container@account.dfs.core.windows.net", "container@account.dfs.core.windows.net"),
        ("hdfs/_HOST@REALM", "hdfs/_HOST@REALM"),
    ],
)
def test_addresses_are_shown_without_who_asks(text: str, expected: str) -> None:
    assert without_secrets(text) == expected


def test_only_settings_of_stores_are_refused() -> None:
    refuse_secrets(["ssl.client.keystore.password", "fs.s3a.endpoint"])
    with pytest.raises(SecretInSettings, match=r"^fs\.azure\.account\.key\.acc carries .*AZURE_STORAGE_ACCOUNT_KEY"):
        refuse_secrets([" fs.azure.account.key.acc "])
    with pytest.raises(SecretInSettings, match="GOOGLE_APPLICATION_CREDENTIALS"):
        refuse_secrets(["fs.gs.auth.client.secret"])
