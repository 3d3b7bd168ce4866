"""No password, key or token stands in the config repo."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from toolkit.entities import Pointer, Value
from toolkit.entities.parsing import parse_files
from toolkit.linter.context import LintContext
from toolkit.linter.findings import Hit, Severity
from toolkit.linter.rule import Rule
from toolkit.linter.secret_values import is_secret, shape_of

_MAY_HAVE_ONE = re.compile(
    rb"(?i)password|passwd|pwd|secret|token|key|eyJ|xox|AKIA|ASIA|AIza|gh[pousr]_|github_pat|glpat|:[^\s@:]*@"
)


def _check(context: LintContext) -> Iterator[Hit]:
    suspects = {file: data for file, data in context.snapshot.files.items() if _MAY_HAVE_ONE.search(data)}
    for file, data in sorted(suspects.items()):
        layer = parse_files({file: data}).documents.get(file)
        found = [] if layer is None else list(_in_values(file, layer.document, ()))
        yield from found or _in_text(file, data)


def _in_values(file: str, value: Value, pointer: Pointer) -> Iterator[Hit]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _in_values(file, each, (*pointer, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _in_values(file, each, (*pointer, index))
    elif isinstance(value, str):
        what = shape_of(value) or _by_name(pointer, value)
        if what:
            yield _hit(file, pointer, f"found what looks like {what}")


def _by_name(pointer: Pointer, value: str) -> str | None:
    """What the value is by the name of its key, unless it says where the secret is."""
    key = pointer[-1]
    if not isinstance(key, str) or not is_secret(key, value):
        return None
    return f"a secret: the value of {key} stands there itself"


def _in_text(file: str, data: bytes) -> Iterator[Hit]:
    """Comments, and files that are no good YAML."""
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), start=1):
        what = shape_of(line)
        if what:
            yield _hit(file, (), f"found what looks like {what} in line {number}")


def _hit(file: str, pointer: Pointer, message: str) -> Hit:
    return Hit(
        subject=file,
        pointer=pointer,
        message=f"{message}, expected a reference",
        hint="name an environment variable, a file or a credential alias instead, and change the secret: git keeps it",
    )


RULE = Rule(
    id="secret-in-repo",
    name="No password, key or token stands in the config repo",
    severity=Severity.ERROR,
    rationale=(
        "Whoever can read the repo, its history, a build log or an archive of it has the secret. Credentials are "
        "references: an environment variable, a file or an alias of a Hadoop credential provider. Values are known "
        "by their shape (private keys, tokens of well-known services, URLs with a password) or by the name of their "
        "key; a message never shows them."
    ),
    bad="""\
# clusters/primary.yaml
hadoop_conf:
  fs.s3a.secret.key: wJalrXUtnFEMIexample
""",
    good="""\
# clusters/primary.yaml
hadoop_conf:
  hadoop.security.credential.provider.path: jceks://hdfs/etl/s3.jceks
""",
    source="DESIGN section 4",
    check=_check,
    hides_value=True,
)
