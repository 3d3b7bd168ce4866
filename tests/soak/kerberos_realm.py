"""A throw-away Kerberos realm with a KDC of its own, from Debian's krb5 packages."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.databases.port import reserved_port
from tests.testbed.missing import Missing
from tests.testbed.processes import Command, Starter

REALM = "FEEDCTL.TEST"
_PROGRAMS = ("krb5kdc", "kdb5_util", "kadmin.local", "kinit")
_PACKAGES = "krb5-kdc krb5-admin-server krb5-user"
_PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
_CLIENTS = """\
[libdefaults]
 default_realm = {realm}
 dns_lookup_kdc = false
 dns_lookup_realm = false
 dns_canonicalize_hostname = false
 rdns = false
 udp_preference_limit = 1
[realms]
 {realm} = {{
  kdc = 127.0.0.1:{port}
 }}
[domain_realm]
 localhost = {realm}
"""
_KDC = """\
[kdcdefaults]
 kdc_listen = 127.0.0.1:{port}
 kdc_tcp_listen = 127.0.0.1:{port}
[realms]
 {realm} = {{
  database_name = {directory}/principal
  key_stash_file = {directory}/stash
  max_life = 1h
 }}
"""


class NoKerberos(Missing):
    """No KDC on this machine; `programs` are those that it lacks."""

    def __init__(self, *, programs: Sequence[str]) -> None:
        self.programs = tuple(programs)
        super().__init__(
            f"this machine lacks {', '.join(programs)}; install them (Debian: apt-get install {_PACKAGES})"
        )


def check_programs() -> None:
    """Find out whether this machine has a KDC.

    Raises:
        NoKerberos: with what to install.
    """
    lacking = [name for name in _PROGRAMS if shutil.which(name, path=_PATH) is None]
    if lacking:
        raise NoKerberos(programs=lacking)


@dataclass(frozen=True, slots=True)
class Realm:
    """A realm in a directory of its own; nothing of the machine's own Kerberos is read or changed."""

    directory: Path

    @property
    def clients(self) -> Path:
        """The krb5.conf of everybody who uses the realm."""
        return self.directory / "krb5.conf"

    def start(self, starter: Starter) -> None:
        """Make the realm and run its KDC, which answers as soon as the first `kinit` has worked."""
        self.directory.mkdir()
        with reserved_port() as reserved:
            port = reserved.getsockname()[1]
        self.clients.write_text(_CLIENTS.format(realm=REALM, port=port))
        (self.directory / "kdc.conf").write_text(_KDC.format(realm=REALM, port=port, directory=self.directory))
        self._run("kdb5_util", "create", "-s", "-r", REALM, "-P", "throw-away")
        kdc = ("krb5kdc", "-n", "-r", REALM)
        starter.start(Command(arguments=kdc, environment=self._environment(), directory=self.directory, name="kdc"))

    def keytab(self, name: str, *principals: str) -> Path:
        """New principals, and the file with their keys."""
        file = self.directory / f"{name}.keytab"
        for principal in principals:
            self._run("kadmin.local", "-r", REALM, "addprinc", "-randkey", principal)
        self._run("kadmin.local", "-r", REALM, "ktadd", "-k", str(file), *principals)
        return file

    def ticket(self, principal: str, keytab: Path) -> Path:
        """A ticket cache, as kinit leaves it."""
        cache = self.directory / f"{principal.replace('/', '-')}.cache"
        environment = self._environment() | {"KRB5CCNAME": f"FILE:{cache}"}
        # The KDC may still be about to start.
        self._run("kinit", "-k", "-t", str(keytab), principal, environment=environment, tries=20)
        return cache

    def client_environment(self, cache: Path | None) -> dict[str, str]:
        """Return what a process needs to act with a ticket cache, or to have none."""
        place = cache or self.directory / f"none-{secrets.token_hex(8)}.cache"
        return {"KRB5_CONFIG": str(self.clients), "KRB5CCNAME": f"FILE:{place}"}

    def _environment(self) -> dict[str, str]:
        profile = str(self.directory / "kdc.conf")
        return {"PATH": _PATH, "KRB5_CONFIG": str(self.clients), "KRB5_KDC_PROFILE": profile}

    def _run(self, *arguments: str, environment: dict[str, str] | None = None, tries: int = 1) -> None:
        for left in range(tries, 0, -1):
            ended = subprocess.run(
                arguments, env=environment or self._environment(), check=left == 1, capture_output=True, timeout=30
            )
            if ended.returncode == 0:
                return
