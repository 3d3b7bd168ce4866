"""Pig and Oozie as commands: scripts of the config repo that start what is on the cluster's file system.

One text of the XML gets into a script, quoted: the path of the workflow; of the clusters, their names, where their
Oozie is, and the names of properties that only some of them have.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from typing_extensions import override

from toolkit.migration.arguments import arguments_on, oozie_arguments, pig_arguments
from toolkit.migration.draft import Converted, Draft
from toolkit.migration.job import FOLDER, FalconWorkflow, Runs, own_path
from toolkit.migration.known import names_in
from toolkit.migration.xml_tree import Fact

_MARK = re.compile("@(?:PATH|CASES)@")
_VARIABLE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
"""Name of a shell variable; feedctl hands all properties to a command as variables."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Script(Runs):
    """A script of the config repo starts what is on the cluster's file system.

    Attributes:
        ending: of the script's name.
        text: has the place of the workflow as `@PATH@`, and of `cases` as `@CASES@`.
    """

    draft: Draft
    ending: str
    text: str
    cases: str = ""

    @override
    def place(self, path: str, script: str) -> Converted:
        name = f"{FOLDER}/{script}.{self.ending}"
        texts = {"@PATH@": _shell_word(own_path(path)), "@CASES@": self.cases}
        self.draft.scripts[name] = _MARK.sub(lambda mark: texts[mark[0]], self.text)  # at once: a text may have marks
        return Converted(name, f"a script of the config repo runs {path}")


def _shell_word(own: str) -> str:
    """A path on the cluster's file system as one word of a shell."""
    return f'"$nameNode"{shlex.quote(own)}' if own.startswith("/") else shlex.quote(own)


_PIG = """\
#!/bin/sh
# Written by `feedctl migrate falcon`. Its arguments, and $nameNode, come from feedctl.
exec pig "$@" -f @PATH@
"""


def pig(job: FalconWorkflow) -> Runs:
    """Run a Pig script by the client of Pig."""
    runs = _Script(draft=job.draft, ending="pig.sh", text=_PIG)
    job.put_engine("command", "the client of Pig runs the script, by the recipe of docs/steps.md")
    job.put_path(runs)
    job.put_arguments(pig_arguments(job.draft.document, job.known))
    job.put_removals()
    job.draft.drop(job.libraries, "a Pig script names its jars itself: REGISTER")
    job.todo("the client `pig` has to be on the machine that runs processes")
    return runs


_OOZIE = """\
#!/bin/sh
# Written by `feedctl migrate falcon`: starts a workflow of Oozie, waits for it, takes its end for ours, and ends
# it with us. The first argument is the cluster; the others, and $nameNode, come from feedctl.
set -eu
case "$1" in
@CASES@
  *) echo "no Oozie is known for the cluster $1" >&2; exit 1 ;;
esac
export OOZIE_URL
shift
job=$(oozie job -run -D oozie.wf.application.path=@PATH@ "$@" | sed -n 's/^job: //p')
[ -n "$job" ] || exit 1
trap 'oozie job -kill "$job"; exit 143' TERM
while :; do
  status=$(oozie job -info "$job" | sed -n 's/^Status *: *//p')
  echo "$job $status"
  case "$status" in
    SUCCEEDED) exit 0 ;;
    KILLED | FAILED) oozie job -log "$job"; exit 1 ;;
  esac
  sleep 15 & wait $!
done
"""


def oozie(job: FalconWorkflow) -> Runs:
    """Run a workflow of Oozie by its client, which waits for it."""
    runs = _Script(draft=job.draft, ending="oozie.sh", text=_OOZIE, cases="\n".join(_cases(job)))
    job.put_engine(
        "command", "the client of Oozie starts the workflow and waits for it, by the recipe of docs/steps.md"
    )
    job.put_path(runs)
    before = ["${cluster.name}"]
    if job.libraries is not None and job.libraries.text:
        before += ["-D", f"oozie.libpath={job.libraries.text}"]
    job.put_arguments(oozie_arguments(job.draft.document, job.known), tuple(before))
    if len(before) > 1:
        job.draft.put(job.libraries or Fact("", 0, ""), ("workflow", "args", 2), before[2], "Oozie's oozie.libpath")
    job.todo("the client `oozie` has to be on the machine that runs processes")
    return runs


def _cases(job: FalconWorkflow) -> list[str]:
    found = []
    for cluster in names_in(job.draft.document, ("clusters",)):
        url = job.known.endpoint(cluster, "workflow")
        if url is not None and url.isprintable() and cluster.isprintable():
            own = _own_properties(job, cluster)
            found.append(f"  {shlex.quote(cluster)}) OOZIE_URL={shlex.quote(url)}{own} ;;")
    return found


def _own_properties(job: FalconWorkflow, cluster: str) -> str:
    """Arguments for what this cluster says and others do not, such as `queueName`; their values come with the run."""
    arguments = []
    for name in arguments_on(cluster, job.draft.document, job.known):
        if _VARIABLE.fullmatch(name):
            arguments.append(f' -D "{name}=${name}"')
        else:
            job.todo(f"no argument can be the property {name!r} of the cluster {cluster}, which others do not have")
    return f'; set -- "$@"{"".join(arguments)}' if arguments else ""
