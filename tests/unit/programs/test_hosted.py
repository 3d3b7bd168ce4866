"""Tests of validations on a shared application, by a program that answers as one does and validates nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.unit.programs.calls import never
from tests.unit.programs.shared_site import SharedSite, opened_site
from toolkit.entities import Credential, SparkAttributes, Workflow
from toolkit.programs.hosted import HostedEngine, may_host
from toolkit.programs.port import StepCall, StepEnd
from toolkit.runs.errors import Stopped


@pytest.fixture
def site(tmp_path: Path) -> Iterator[SharedSite]:
    with opened_site(tmp_path) as found:
        yield found


def validation(site: SharedSite, what: str) -> StepCall:
    folder = site.directory / "quality"
    folder.mkdir(exist_ok=True)
    return replace(site.call(""), args=(what, str(folder / "answer")), log=folder / "validation.log")


def hosted(site: SharedSite, process: str = "count") -> HostedEngine:
    return HostedEngine(shared=site.engine, process=process, cluster="primary", own=site.own, module="judge")


def validated(site: SharedSite, what: str = "rows", process: str = "count") -> StepEnd:
    return hosted(site, process).run(validation(site, what), lambda _mark: None, never)


def test_what_a_process_has_made_is_validated_on_its_application(site: SharedSite) -> None:
    application = site.ran()
    assert validated(site).application == application
    assert "ran rows" in (site.directory / "quality/validation.log").read_text()
    assert site.ran() == application
    assert site.own.ran == []


def test_what_no_step_on_a_shared_application_has_made_is_validated_alone(site: SharedSite) -> None:
    site.ran()
    assert validated(site, process="other").application == "own"


def test_a_validation_whose_application_ends_is_tried_on_another(site: SharedSite) -> None:
    application = site.ran()
    end = validated(site, "die once")
    assert (end.succeeded, end.application not in {application, "own"}) == (True, True)
    assert len(site.hosts) == 2


def test_a_validation_that_ends_two_applications_is_tried_alone_without_what_they_answered(site: SharedSite) -> None:
    site.ran()
    call = validation(site, "die")
    Path(call.args[-1]).write_text("of an application that was lost")
    assert hosted(site).run(call, lambda _mark: None, never).application == "own"
    assert len(site.hosts) == 2
    assert not Path(call.args[-1]).exists()


def test_a_validation_that_fails_there_is_tried_alone(site: SharedSite) -> None:
    site.ran()
    assert validated(site, "fail").application == "own"


def test_a_stopped_validation_is_cancelled_and_the_application_stays(site: SharedSite) -> None:
    application, call = site.ran(), validation(site, "hang")

    def check() -> None:
        if call.log.exists() and "ran hang" in call.log.read_text():
            raise Stopped(reason="over its budget")

    with pytest.raises(Stopped):
        hosted(site).run(call, lambda _mark: None, check)
    assert site.ran() == application


def spark(**of: object) -> Workflow:
    return Workflow(spark=SparkAttributes(**of))  # type: ignore[arg-type]  # the fields' own names


def test_settings_of_resources_do_not_keep_validations_apart(site: SharedSite) -> None:
    conf = {"spark.sql.shuffle.partitions": 1, "spark.executor.memory": "2g"}
    assert may_host(site.call(""))
    assert may_host(site.call("", workflow=spark(conf=conf)))


@pytest.mark.parametrize(
    "workflow",
    [
        Workflow(secrets={"PW": Credential(env="FEEDCTL_SECRET_PW")}),
        Workflow(lib=("lib/udf.jar",)),
        spark(options=("--proxy-user", "etl")),
        spark(conf={"spark.hadoop.fs.s3a.endpoint": "x"}),
        spark(conf={"spark.sql.session.timeZone": "UTC"}),
        spark(conf={"spark.driver.extraJavaOptions": "-Duser.timezone=UTC"}),
    ],
)
def test_secrets_code_and_settings_that_change_what_is_read_keep_validations_apart(
    site: SharedSite, workflow: Workflow
) -> None:
    assert not may_host(site.call("", workflow=workflow))
