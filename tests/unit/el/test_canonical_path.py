"""CanonicalPath: which texts are one place, and what cannot be resolved."""

from __future__ import annotations

import pytest

from toolkit.el import CanonicalPath, ElError


@pytest.mark.parametrize(
    ("text", "default_fs", "canonical"),
    [
        ("/a", "hdfs://nn:8020", "hdfs://nn/a"),
        ("hdfs:/a", "hdfs://nn:8020", "hdfs://nn/a"),
        ("hdfs:///a", "hdfs://nn:8020", "hdfs://nn/a"),
        ("hdfs://NN:8020/a/", None, "hdfs://nn/a"),
        ("hdfs://nn/a//b/./c", None, "hdfs://nn/a/b/c"),
        ("hdfs://nn:9000/a", None, "hdfs://nn:9000/a"),
        ("/a", "hdfs://ns1/", "hdfs://ns1/a"),
        ("s3://bucket/k", None, "s3://bucket/k"),
        ("s3a://bucket/k/", None, "s3://bucket/k"),
        ("S3N://bucket/k", None, "s3://bucket/k"),
        ("s3://Bucket/K", None, "s3://Bucket/K"),
        ("/k", "s3a://bucket/prefix", "s3://bucket/prefix/k"),
        ("file:/a", None, "file:///a"),
        ("file:///a/", None, "file:///a"),
        ("file://localhost/a", None, "file:///a"),
        ("/data/x", "file:///tmp/demo/", "file:///tmp/demo/data/x"),
        ("/", "file:///tmp/demo", "file:///tmp/demo"),
        ("/", "file:///", "file:///"),
        ("file:///other", "file:///tmp/demo", "file:///other"),
        ("/with space/ü", "file:///", "file:///with space/ü"),
    ],
)
def test_every_way_to_write_a_place_is_one_value(text: str, default_fs: str | None, canonical: str) -> None:
    path = CanonicalPath.parse(text, default_fs)
    assert str(path) == canonical
    assert CanonicalPath.parse(canonical) == path


@pytest.mark.parametrize(
    ("text", "default_fs", "expected"),
    [
        ("a/b", "file:///", "an absolute path"),
        ("", "file:///", "an absolute path"),
        ("hdfs:a", None, "an absolute path"),
        ("/a", None, "a scheme such as"),
        ("hdfs:/a", None, "'//' and the host"),
        ("hdfs:/a", "s3://bucket", "'//' and the host"),
        ("s3:///k", None, "'//' and the host"),
        ("ftp://h/a", None, "one of the schemes"),
        ("file://host/a", None, "no host"),
        ("/a/../b", "file:///", "without '..'"),
        ("/a\0b", "file:///", "NUL"),
        ("s3://bucket/a//b", None, "a key without '//'"),
        ("s3://bucket/a/./b", None, "a key without '//'"),
    ],
)
def test_what_cannot_be_resolved_is_an_error(text: str, default_fs: str | None, expected: str) -> None:
    with pytest.raises(ElError) as error:
        CanonicalPath.parse(text, default_fs)
    assert expected in error.value.expected


def test_a_path_is_within_another_only_strictly_below_it_on_the_same_store() -> None:
    base = CanonicalPath.parse("hdfs://nn/data/clicks")
    assert base.child("2026").is_within(base)
    assert CanonicalPath.parse("hdfs://nn/x").is_within(CanonicalPath.parse("hdfs://nn/"))
    for outside in ("hdfs://nn/data/clicks", "hdfs://nn/data/clicks_meta/x", "hdfs://nn/data", "s3://nn/data/clicks/x"):
        assert not CanonicalPath.parse(outside).is_within(base)


def test_names_parents_and_relative_paths() -> None:
    path = CanonicalPath.parse("hdfs://nn/data/clicks/2026")
    assert (path.name, str(path.parent), path.relative_to(path.parent.parent)) == (
        "2026",
        "hdfs://nn/data/clicks",
        "clicks/2026",
    )
    root = CanonicalPath.parse("hdfs://nn/")
    assert (root.name, root.parent) == ("", root)
    assert str(root.child("a")) == "hdfs://nn/a"
    with pytest.raises(ElError, match="a path below"):
        root.relative_to(path)


@pytest.mark.parametrize("name", ["", "a/b", "..", ".", "a\0"])
def test_a_child_is_one_name(name: str) -> None:
    with pytest.raises(ElError, match="one name"):
        CanonicalPath.parse("file:///a").child(name)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("s3a://bucket/k", True),
        ("gs://bucket/k", True),
        ("abfss://container@account/k", True),
        ("wasb://container@account/k", True),
        ("hdfs://nn/k", False),
        ("file:///k", False),
    ],
)
def test_object_stores_are_told_from_file_systems(text: str, expected: bool) -> None:  # noqa: FBT001 - a table of cases
    assert CanonicalPath.parse(text).in_object_store is expected


@pytest.mark.parametrize(
    "text",
    [
        "abfs://clicks@shop.dfs.core.windows.net/k",
        "abfss://clicks@Shop.DFS.core.windows.net/k",
        "wasb://clicks@shop.blob.core.windows.net/k",
        "wasbs://clicks@shop.blob.core.windows.net/k/",
    ],
)
def test_a_container_of_azure_is_one_store_by_whichever_name(text: str) -> None:
    assert str(CanonicalPath.parse(text)) == "abfs://clicks@shop.dfs.core.windows.net/k"


def test_only_azures_own_host_is_another_name_of_a_container() -> None:
    one, other = "wasb://blob@blob.blobs.blob/k", "wasb://blob@shop/k"
    assert str(CanonicalPath.parse(one)) == "abfs://blob@blob.blobs.blob/k"
    assert str(CanonicalPath.parse(other)) == "abfs://blob@shop/k"
