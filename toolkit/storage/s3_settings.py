"""How an S3 store is reached: the `fs.s3a` settings of Hadoop that feedctl honours, without secrets."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from toolkit.errors import InvalidInput
from toolkit.storage.secret_keys import refuse_secrets, without_secrets
from toolkit.storage.spec import StorageSpec

_AWS = ".amazonaws.com"
_CENTRAL = "s3.amazonaws.com"


class BadS3Setting(InvalidInput):
    """A setting has a value that cannot be used.

    Args:
        key: the setting's name.
        value: what was found; who asks is left out of an address.
        expected: what would be right.
    """

    def __init__(self, *, key: str, value: str, expected: str) -> None:
        self.key, self.value, self.expected = key, without_secrets(value), expected
        super().__init__(f"{key} is {self.value!r}; expected {expected}")


@dataclass(frozen=True, kw_only=True, slots=True)
class S3Settings:
    """Where the bucket is and how it is spoken to; what is empty is left to botocore (AWS_ENDPOINT_URL and so on).

    Attributes:
        bucket: its name.
        endpoint: URL of the service; empty for Amazon's own.
        region: the bucket's region; empty: what botocore finds.
        path_style: the bucket is the first part of the path, not of the host's name.
    """

    bucket: str
    endpoint: str = ""
    region: str = ""
    path_style: bool = False

    @classmethod
    def of(cls, spec: StorageSpec) -> S3Settings:
        """The settings of a spec; those under ``fs.s3a.bucket.NAME.`` stand above the general ones.

        Raises:
            InvalidInput: a setting carries a secret, or has a value that cannot be used.
        """
        if spec.authority.endswith("--x-s3"):
            # Their listings are not sorted, and everything here relies on the order.
            raise BadS3Setting(key="the bucket", value=spec.authority, expected="a general purpose bucket")
        refuse_secrets(spec.hadoop_conf)
        endpoint = _endpoint(spec)
        return cls(
            bucket=spec.authority,
            endpoint=endpoint,
            region=_setting(spec, "endpoint.region")[1] or _region_of(endpoint),
            path_style=_flag(spec, "path.style.access", default=False),
        )


def _setting(spec: StorageSpec, name: str) -> tuple[str, str]:
    """The name under which a setting was found, and its value; empty when there is none."""
    keys = (f"fs.s3a.bucket.{spec.authority}.{name}", f"fs.s3a.{name}")
    found = (key for key in keys if key in spec.hadoop_conf)
    key = next(found, keys[-1])
    return key, spec.hadoop_conf.get(key, "").strip()


def _flag(spec: StorageSpec, name: str, *, default: bool) -> bool:
    key, value = _setting(spec, name)
    if value.lower() not in {"", "true", "false"}:
        raise BadS3Setting(key=key, value=value, expected="true or false")
    return value.lower() == "true" if value else default


def _endpoint(spec: StorageSpec) -> str:
    key, value = _setting(spec, "endpoint")
    if value in {"", _CENTRAL}:
        # The central end point is what botocore takes by itself, with the region's own name.
        return ""
    scheme = "https" if _flag(spec, "connection.ssl.enabled", default=True) else "http"
    url = value if "://" in value else f"{scheme}://{value}"
    split = urlsplit(url)
    if split.scheme not in {"http", "https"} or not split.hostname or "@" in url:
        raise BadS3Setting(key=key, value=value, expected="a host, host:port, or a URL with http or https")
    return url


def _region_of(endpoint: str) -> str:
    """The region that is part of the name of one of Amazon's end points, as s3a reads it."""
    host = urlsplit(endpoint).hostname or ""
    if not host.endswith(_AWS):
        return ""
    parts = host.removesuffix(_AWS).replace("s3-", "s3.", 1).split(".")
    return parts[-1] if parts[-1] not in {"s3", ""} else ""
