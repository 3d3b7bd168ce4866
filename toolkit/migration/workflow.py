"""Workflow of a process: Falcon's four engines as those of feedctl (docs/steps.md has the recipes)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from toolkit.entities.formats import FORMATS, allows
from toolkit.migration.commands import oozie, pig
from toolkit.migration.draft import Draft
from toolkit.migration.job import FalconWorkflow, Runs
from toolkit.migration.known import Known
from toolkit.migration.spark_engines import hive, spark
from toolkit.migration.xml_tree import Element, Fact

_ENGINES: Mapping[str, Callable[[FalconWorkflow], Runs]] = {"oozie": oozie, "pig": pig, "hive": hive, "spark": spark}


def workflow(draft: Draft, root: Element, known: Known) -> None:
    """Read the workflow, the late workflows, and the attributes for Spark."""
    element, late = root.child("workflow"), root.child("late-process")
    attributes = root.child("spark-attributes")
    if element is None:
        draft.refuse(Fact(root.place, root.line, ""), "missing-element", "found no workflow in the process")
        return
    engine = element.attribute("engine")
    migrate = _ENGINES.get("oozie" if engine is None or not engine.text else engine.text.lower())
    if migrate is None:
        assert engine is not None  # noqa: S101 - Falcon's default is known
        message = f"found the engine {engine.text[:80]!r}, expected one of {', '.join(_ENGINES)}"
        draft.refuse(engine, "bad-value", message)
        for each in filter(None, (element, late, attributes)):  # what only that engine would read is not wrong
            draft.drop_all(each, "its engine is not known")
        return
    draft.copy(element.attribute("name"), ("workflow", "name"))
    draft.copy(element.attribute("version"), ("workflow", "version"))
    job = FalconWorkflow(
        draft=draft, known=known, element=element, spark=attributes, engine=engine, libraries=element.attribute("lib")
    )
    runs = migrate(job)
    if attributes is not None and migrate is not spark:
        draft.drop_all(attributes, "only the engine spark has attributes for Spark")
    _late_inputs(draft, late, runs)


def _late_inputs(draft: Draft, late: Element | None, runs: Runs) -> None:
    for each in late.each("late-input") if late is not None else ():
        name, path = each.attribute("input"), each.attribute("workflow-path")
        if name is None or path is None or not allows(FORMATS["variable"], name.text):  # it is in a script's name
            where = Fact(each.place, each.line, "")
            draft.refuse(
                where, "bad-value", "found a late-input without the name of an input, or without workflow-path"
            )
            continue
        script = f"{draft.name}.late.{name.text}"
        draft.trace_name(name, ("late_process", "inputs", name.text))
        draft.copy(path, ("late_process", "inputs", name.text), partial(runs.place, script=script))
