"""A datasource's credentials say in one way where the password is."""

from collections.abc import Iterator

from toolkit.entities.datasource import Credential, Datasource
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


OWN_CHECKS = (check_credentials,)
