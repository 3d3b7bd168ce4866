"""URIs of datasets: one dataset has one text, and no credentials are kept or shown."""

from __future__ import annotations

import string
from urllib.parse import quote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolkit.el import CanonicalPath, DatasetUri, ElError, dataset_uri
from toolkit.el.dataset_credentials import DatasetCredentials


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("my-dataset", "my-dataset"),
        ("orders/daily/", "orders/daily"),
        ("/data/orders", "/data/orders"),
        ("S3://Bucket/Order_Data/", "s3://bucket/Order_Data"),
        ("s3a://bucket/a", "s3://bucket/a"),
        ("s3://my-connection@bucket/order_data", "s3://my-connection@bucket/order_data"),
        ("azure-data-lake://container-name/path", "azure-data-lake://container-name/path"),
        ("wasbs://box@account.blob.core.windows.net/a", "abfs://box@account.dfs.core.windows.net/a"),
        ("file:///path/to/file/", "file:///path/to/file"),
        ("file://localhost/a", "file:///a"),
        ("file:/a", "file:///a"),
        ("snowflake://db/table", "snowflake://db/table"),
        ("hdfs://NN:8020/a//b/./c/../d", "hdfs://nn/a/b/d"),
        ("hdfs://nn:9000/a", "hdfs://nn:9000/a"),
        ("https://Example.com:443/a?b=2&a=1", "https://example.com/a?a=1&b=2"),
        ("https://example.com/%7euser/%c3%bc", "https://example.com/~user/%C3%BC"),
        ("https://example.com/ü", "https://example.com/%C3%BC"),
        ("hive://server/db/table", "hive://server/db/table"),
        ("catalog:db:table", "catalog:db:table"),
        ("kafka://[2001:DB8::1]:9092/topic", "kafka://[2001:db8::1]/topic"),
        ("FEEDCTL:feed/clicks?cluster=primary", "feedctl:feed/clicks?cluster=primary"),
        ("s3://bucket/a?version=1#part", "s3://bucket/a?version=1#part"),
    ],
)
def test_each_way_to_write_a_dataset_is_one_text(text: str, canonical: str) -> None:
    assert dataset_uri.parse(text).text == canonical
    assert dataset_uri.parse(canonical).text == canonical


def test_the_uri_of_a_feed_names_it_and_its_cluster() -> None:
    uri = dataset_uri.parse(dataset_uri.feed_uri("clicks", "primary"))
    assert uri == DatasetUri("feedctl:feed/clicks?cluster=primary", "clicks", "primary")
    assert uri.scheme == "feedctl"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a URI such as"),
        ("   ", "expected %20"),
        ("s3://", "expected a host, bucket or connection"),
        (".", "expected a URI such as"),
        ("a b", "at character 2: found the character ' ', expected %20"),
        ("s3://b/${YEAR}", "expected %7B"),
        ("s3://b/%zz", "expected %25"),
        ("airflow:thing", "Airflow reserves"),
        ("AIRFLOW://thing", "Airflow reserves"),
        ("feedctl:clicks", "feedctl:feed/clicks?cluster=primary"),
        ("feedctl:feed/clicks", "feedctl:feed/clicks?cluster=primary"),
        ("feedctl://feed/clicks?cluster=primary", "feedctl:feed/clicks?cluster=primary"),
        ("1a:b", "expected %3A"),
        ("//host/a", "without a scheme"),
        ("s3://b/part-?.csv", "a glob is allowed as an entry of a trigger alone"),
        ("s3://b/a?", "an empty query"),
        ("s3://b/[ab]", "expected %5B"),
        ("https://host:port/a", "a port at most"),
        ("s3://b/a\nb", "expected"),
        ("s3://b/" + "a" * 1600, "expected at most 1500"),
    ],
)
def test_what_is_no_dataset_is_refused_with_what_to_write(text: str, message: str) -> None:
    with pytest.raises(ElError) as caught:
        dataset_uri.parse(text)
    assert message in str(caught.value)


SECRET = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        "https://me:hunter2@host/a",
        "https://hunter2@host/a",
        "s3://key:hunter2@bucket/a",
        "s3a://key:ab/hunter2@bucket/a",
        "s3://key%3Ahunter2@bucket/a",
        "https://me:hunter2%40host/a",
        "postgresql://host/db?password=hunter2",
        "postgresql://host/db?p%61ssword=hunter2",
        "https://host/a?b=1&token=hunter2",
        "https://host/a?sig=hunter2",
        "https://host/a?X-Amz-Signature=hunter2",
        "https://host/a?AWSAccessKeyId=hunter2",
        "https://host/a?b=1;password=hunter2",
        "https://host/a#access_token=hunter2",
        "abfs://box:hunter2@account.dfs.core.windows.net/a",
        "hdfs://me@namenode/hunter2",
        "jdbc:postgresql://me:hunter2@host/db",
        "jdbc:oracle:thin:me/hunter2@host:1521:x",
        "jdbc:oracle:thin:me/hun?hunter2@host:1521:x",
        "me:hunter2@host/path",
        "my_user:hunter2@host/path",
        "me%3Ahunter2@host/path",
        "hdfs://me:12/hunter2@host/x",
        "https://me:ab?hunter2@host/x",
        "https://proxy/https://me:hunter2@host/x",
        "https://host/x?auth=hunter2",
    ],
)
def test_credentials_are_refused_and_never_shown(text: str) -> None:
    for read in (dataset_uri.parse, dataset_uri.parse_glob):
        with pytest.raises(DatasetCredentials) as caught:
            read(text)
        assert SECRET not in str(caught.value)
        assert "without credentials" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "https://host/a?monkey=1",
        "https://host/a?keyspace=y&partition=x",
        "https://host/a?author=x",
        "https://host:8443/a?mail=x@y",
        "hdfs://host/a@b",
        "a@b",
        "x/a:b@c",
    ],
)
def test_what_only_looks_like_credentials_is_allowed(text: str) -> None:
    assert dataset_uri.parse(text).text == text


@pytest.mark.parametrize(
    ("text", "is_glob"),
    [
        ("s3://b/x/*", True),
        ("s3://b/part-?", True),
        ("s3://b/[ab]", True),
        ("feedctl:feed/x?cluster=a", False),
        ("feedctl:feed/*?cluster=a", True),
        ("kafka://[::1]/topic", False),
        ("kafka://[::1]/[a]", True),
        ("my-dataset", False),
    ],
)
def test_a_glob_is_told_from_a_uri(text: str, *, is_glob: bool) -> None:
    assert dataset_uri.is_glob(text) is is_glob


@pytest.mark.parametrize(
    ("glob", "uri", "matches"),
    [
        ("S3A://Bucket/x/*", "s3://bucket/x/a/b", True),
        ("s3://bucket/x/*", "s3://bucket/x", False),
        ("s3://bucket/part-?", "s3://bucket/part-1", True),
        ("s3://bucket/part-[12]", "s3://bucket/part-3", False),
        ("feedctl:feed/orders_*?cluster=a", "feedctl:feed/orders_eu?cluster=a", True),
        ("feedctl:feed/orders_*?cluster=a", "feedctl:feed/orders_eu?cluster=b", False),
        ("hdfs://nn:8020/a/%7eb/*", "hdfs://nn/a/~b/c", True),
        ("*", "anything", True),
    ],
)
def test_globs_match_canonical_texts(glob: str, uri: str, *, matches: bool) -> None:
    assert dataset_uri.parse_glob(glob).matches(uri) is matches


@given(
    st.lists(st.text("ab/", min_size=1, max_size=5), max_size=12),
    st.text("ab/*?", min_size=1, max_size=5).filter(dataset_uri.is_glob),
)
def test_a_glob_finds_the_same_among_many_as_one_by_one(texts: list[str], text: str) -> None:
    glob = dataset_uri.DatasetGlob(f"x:{text}")
    uris = sorted(f"x:{each}" for each in texts)
    assert list(glob.among(uris)) == [each for each in uris if glob.matches(each)]


def test_a_path_and_its_uri_are_one_dataset() -> None:
    path = CanonicalPath.parse("hdfs://nn:8020/data/with space/ü%")
    text = dataset_uri.path_uri(path)
    assert text == "hdfs://nn/data/with%20space/%C3%BC%25"
    assert dataset_uri.parse(text).storage_path() == path


def test_the_path_of_a_dataset_leaves_out_the_connection() -> None:
    assert str(dataset_uri.parse("s3://connection@bucket/a").storage_path()) == "s3://bucket/a"
    assert str(dataset_uri.parse("s3://bucket").storage_path()) == "s3://bucket/"
    with pytest.raises(ElError):
        dataset_uri.parse("my-dataset").storage_path()


_NAMES = st.text(string.ascii_letters + string.digits + "-._~!$&'()+,;=ü世 ", min_size=1, max_size=8)
_PATHS = st.lists(st.one_of(_NAMES, st.sampled_from([".", "..", ""])), min_size=1, max_size=5)
_HOSTS = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9-]{0,8}(\.[A-Za-z]{2,4})?", fullmatch=True)
_QUERIES = st.lists(st.tuples(st.sampled_from(["a", "b", "Part"]), _NAMES), max_size=3)


@given(st.text(max_size=40) | st.text("ab:/?#@%.*[]=&2fF", max_size=30))
@example("./a:b")
@example("x:/.//a")
@example("a/..//b")
@example("%2e%2E/a")
def test_any_text_is_refused_by_name_or_has_a_stable_form(text: str) -> None:
    try:
        uri = dataset_uri.parse(text)
    except ElError:
        return
    assert dataset_uri.parse(uri.text) == uri
    assert uri.text.isascii()
    assert uri.text.isprintable()


@given(st.sampled_from(["s3", "hdfs", "https", "x+y"]), _HOSTS, _PATHS, _QUERIES, st.randoms())
def test_spelling_makes_no_other_dataset(
    scheme: str, host: str, names: list[str], query: list[tuple[str, str]], random: object
) -> None:
    """Case of scheme and host, escapes, order of parameters and a trailing slash change nothing."""
    shuffled = list(query)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    plain = f"{scheme}://{host}/{_spelt(names, quote)}{_parameters(query, quote)}"
    other = f"{scheme.upper()}://{host.upper()}/{_spelt(names, _escaped)}/{_parameters(shuffled, _escaped)}"
    assert dataset_uri.parse(plain) == dataset_uri.parse(other)


@given(_HOSTS, st.lists(_NAMES.map(lambda name: name.strip(". ") or "x"), min_size=1, max_size=4))
def test_a_path_comes_back_from_its_uri(host: str, names: list[str]) -> None:
    path = CanonicalPath("hdfs", host.lower(), "/" + "/".join(names))
    assert dataset_uri.parse(dataset_uri.path_uri(path)).storage_path() == path


@given(st.text(string.ascii_letters + string.digits, min_size=6, max_size=12).map(lambda text: f"zz{text}zz"))
def test_no_password_reaches_a_message(secret: str) -> None:
    for text in (
        f"https://me:{secret}@host/a b",
        f"https://host/a b?x=1&api_token={secret}",
        f"https://host/%zz?password={secret}",
        f"airflow://me:{secret}@host",
        f"feedctl:feed/x?password={secret}",
        f"//me:{secret}@host/",
    ):
        with pytest.raises(ElError) as caught:
            dataset_uri.parse(text)
        assert secret not in str(caught.value)


def _spelt(names: list[str], escape: object) -> str:
    return "/".join(each if each in {".", "..", ""} else escape(each) for each in names)  # type: ignore[operator]


def _parameters(query: list[tuple[str, str]], escape: object) -> str:
    return "?" + "&".join(f"{key}={escape(value)}" for key, value in query) if query else ""  # type: ignore[operator]


def _escaped(text: str) -> str:
    """Return a text with more escapes than it needs, in small letters."""
    return "".join(f"%{byte:02x}" for byte in text.encode())
