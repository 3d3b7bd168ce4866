"""No JSON that another program wrote costs more than a limit, or ends in a traceback.

Against: whoever may write to a data directory, to an export that is imported, or in the process that validates data or
runs SQL. Defended: length, depth and number of values have limits, and what exceeds one is an error with a name.
"""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from tests.integration.http_answers import Answer, serving
from tests.unit.actions.test_staged_unit import Disk, unit_on
from toolkit.catalog.export_metadata import BadMetadataText, read_metadata
from toolkit.doctor.hadoop import name_node
from toolkit.el import CanonicalPath
from toolkit.foreign_json import BadJson, parse_json
from toolkit.hive import export_layout
from toolkit.hive.errors import NoExport
from toolkit.hive.export_layout import read_manifest
from toolkit.programs.spark_sql import problem_in
from toolkit.quality.documents import NotUnderstood, read_answer
from toolkit.storage import StorageSpec
from toolkit.storage.opening import open_file_system

DEEP = b"[" * 200_000 + b"]" * 200_000
WRONG = {"deep": DEEP, "many": b"[" + b"[]," * 1_100_000 + b"[]]", "cut": b'{"a": "', "no text": b"\xff\xff\xff"}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_what_exceeds_a_limit_is_refused_in_few_words(text: bytes) -> None:
    with pytest.raises(BadJson) as raised:
        parse_json(text)
    assert len(str(raised.value)) < 200


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(BadJson, match="more than 10 bytes"):
        parse_json(b'"0123456789"', most_bytes=10)


@pytest.mark.parametrize(
    "text", [b'"%s"' % (b",[{" * 1000), rb'["\",[,[", "\\", ",,,,,,,"]', b'{"a": "' + rb"\"," * 99 + b'"}']
)
def test_what_stands_inside_of_texts_does_not_count_as_values(text: bytes) -> None:
    assert parse_json(text, most_values=4) == json.loads(text)


def test_values_are_counted_exactly_where_it_matters() -> None:
    text = b'{"a": [1, 2, ",,,,"], "b": {}}'
    assert parse_json(text, most_values=6)
    with pytest.raises(BadJson, match="more than 5 values"):
        parse_json(text, most_values=5)


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_an_answer_of_the_validating_process_that_is_none_is_said(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_bytes(text)
    with pytest.raises(NotUnderstood, match=r"answer\.json"):
        read_answer(tmp_path / "answer.json")


@pytest.mark.parametrize("text", [*WRONG.values(), b"[]", b"{}", b"1"])
def test_a_problem_of_sql_that_nobody_can_read_is_a_failure_like_others(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "problem").write_bytes(text)
    message, may_retry = problem_in(tmp_path / "problem")
    assert (len(message) < 1000, may_retry) == (True, None)


@pytest.mark.parametrize(("written", "read"), [(b"null", None), (b"false", False), (b"true", None), (b'"x"', None)])
def test_only_a_statement_that_is_wrong_itself_is_not_tried_again(written: bytes, read: object, tmp_path: Path) -> None:
    (tmp_path / "problem").write_bytes(b'{"message": "m", "may_retry": %s}' % written)
    assert problem_in(tmp_path / "problem") == ("m", read)


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_note_on_a_whole_copy_that_is_none_means_that_it_is_copied_again(text: bytes, tmp_path: Path) -> None:
    unit = unit_on(Disk(), tmp_path)
    unit.end_copy("a", {"x": "1"})
    (note,) = (each for each in tmp_path.rglob("*") if each.is_file())
    assert unit.copied_before("a", lambda: True) == {"x": "1"}
    note.write_bytes(text)
    assert unit.copied_before("a", lambda: True) is None


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_manifest_that_is_none_is_said(text: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_layout, "_MOST_VALUES", 1_000_000)
    (tmp_path / "_manifest.json").write_bytes(text)
    export = CanonicalPath.parse(f"file://{tmp_path}")
    system = open_file_system(StorageSpec(scheme="file"))
    with pytest.raises(NoExport) as raised:
        read_manifest(system, export)
    assert len(str(raised.value)) < 1000


def test_a_manifest_that_is_too_long_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_layout, "_MOST", 1 << 20)
    (tmp_path / "_manifest.json").write_bytes(b" " * (2 << 20))
    export = CanonicalPath.parse(f"file://{tmp_path}")
    system = open_file_system(StorageSpec(scheme="file"))
    with pytest.raises(NoExport, match="more than 1 MiB"):
        read_manifest(system, export)


@pytest.mark.parametrize("text", [*WRONG.values(), b"x" * 100_000], ids=[*WRONG, "long"])
def test_a_description_of_a_table_that_is_none_is_said(text: bytes) -> None:
    inner = {"version": "0.2", "table": text.decode(errors="replace"), "partitions": []}
    for whole in (text, json.dumps(inner).encode()):
        with pytest.raises(BadMetadataText) as raised:
            read_metadata(whole)
        assert len(str(raised.value)) < 1000


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=DEEP),
        Answer(body=b'{"beans":[[]]}'),
        Answer(body=b'{"beans":{"a":1}}'),
        Answer(body=b'{"beans":["', endless=b"x" * 65536),
        Answer(status=302, location="http://127.0.0.1:1/", endless=b"x" * 65536),
        Answer(status=500, endless=b"x" * 65536),
    ],
    ids=["deep", "a list", "no list", "endless", "a redirection", "a failure"],
)
def test_doctor_holds_no_answer_of_a_name_node_without_end(answer: Answer) -> None:
    with serving(lambda _: answer) as web:
        tracemalloc.start()
        try:
            found = name_node(f"http://{web.authority}")
            assert tracemalloc.get_traced_memory()[1] < 80 << 20
        finally:
            tracemalloc.stop()
        assert web.sent < 80 << 20
    assert found.error
