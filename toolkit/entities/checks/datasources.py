"""A datasource's credentials say in one way where the password is, and no other value has one."""

import re
from collections.abc import Iterator

from toolkit.entities.datasource import Credential, Datasource
from toolkit.entities.values import Properties
from toolkit.entities.violation import Violation
from toolkit.entities.yaml_location import Pointer


def check_credentials(datasource: Datasource) -> Iterator[Violation]:
    """Each credential has exactly one of env, file and alias."""
    interfaces = datasource.interfaces
    yield from credential_findings(datasource.credential, ("credential",))
    for name, each in (("readonly", interfaces.readonly), ("write", interfaces.write)):
        if each is not None:
            yield from credential_findings(each.credential, ("interfaces", name, "credential"))


def credential_findings(credential: Credential | None, pointer: Pointer) -> Iterator[Violation]:
    """A credential has exactly one of env, file and alias."""
    if credential is None:
        return
    given = [name for name in ("env", "file", "alias") if getattr(credential, name) is not None]
    if len(given) != 1:
        message = f"expected exactly one of env, file and alias, found {' and '.join(given) or 'none'}"
        yield Violation(pointer=pointer, rule="credential", message=message, on_key=True)


def check_passwords(datasource: Datasource) -> Iterator[Violation]:
    """No connection property is a password, which would be in the config repo, or an option of Spark."""
    interfaces = datasource.interfaces
    found: list[tuple[Pointer, Properties]] = [(("properties",), datasource.properties)]
    for name, each in (("readonly", interfaces.readonly), ("write", interfaces.write)):
        if each is not None:
            found.append((("interfaces", name, "properties"), each.properties))
            if _PASSWORD.search(each.endpoint):
                message = "the end point has a password among its options"
                yield Violation(
                    pointer=("interfaces", name, "endpoint"), rule="credential", message=message, hint=_HINT
                )
    for pointer, properties in found:
        for name in properties:
            if _PASSWORD.search(f"{name}="):
                message = f"the property {name} is a password"
                yield Violation(pointer=(*pointer, name), rule="credential", message=message, hint=_HINT, on_key=True)
            elif name.lower() in _OF_SPARK:
                message = f"the property {name} is an option of Spark, which would change what is read or written"
                yield Violation(
                    pointer=(*pointer, name), rule="exchange", message=message, hint="remove it", on_key=True
                )


_PASSWORD = re.compile(r"(?i)(?:password|passwd|pwd\d?)\s*=")
_OF_SPARK = {
    *("url", "driver", "dbtable", "query", "preparequery", "sessioninitstatement", "hint", "customschema"),
    *("partitioncolumn", "lowerbound", "upperbound", "numpartitions", "connectionprovider", "keytab", "principal"),
    *("createtableoptions", "createtablecolumntypes"),
}
"""Names in lower case; Spark has one list of its options and of a connection's properties."""
_HINT = "name its source in credential: env, file or alias"

OWN_CHECKS = (check_credentials, check_passwords)
