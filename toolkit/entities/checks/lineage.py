"""Settings of OpenLineage: what a transport needs is there, and events go to an allowed host."""

from collections.abc import Iterator

from toolkit.entities.lineage import LineageTransport
from toolkit.entities.monitoring_formats import webhook_host
from toolkit.entities.nearest import suggestion
from toolkit.entities.repo import RepoSettings
from toolkit.entities.violation import Violation

_POINTER = ("lineage", "openlineage")


def lineage_findings(settings: RepoSettings) -> Iterator[Violation]:
    """Yield the findings about `lineage:` of `repo.yaml`."""
    events, hosts = settings.lineage.openlineage, settings.monitoring.allowed_hosts
    is_http = events.transport is LineageTransport.HTTP
    if is_http and events.url is None:
        hint = f"the transport {events.transport} needs it"
        yield Violation(
            pointer=_POINTER, rule="missing-key", message="missing key 'url' in 'openlineage'", hint=hint, on_key=True
        )
    if events.url is None:
        return
    host, place = webhook_host(events.url), (*_POINTER, "url")
    if "${" in events.url:
        message, hint = "found a reference in the URL, expected a URL without secrets", "use `credential` for the key"
        yield Violation(pointer=place, rule="openlineage-url", message=message, hint=hint)
    if host not in {each.lower() for each in hosts}:
        message = f"found the host {host}, expected one of `monitoring.allowed_hosts`"
        hint = suggestion(host, hosts) or f"add {host} to allowed_hosts"
        yield Violation(pointer=place, rule="openlineage-url", message=message, hint=hint)
