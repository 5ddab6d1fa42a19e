"""The CA and the files of a cluster whose certificates are generated (`--tls auto`, `Cluster(tls=True)`).

The files are in a directory of their own that only the user can read. It exists from the start of the cluster until its end.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from pathlib import Path

from ..settings.cluster_config import ClusterConfig
from ..settings.endpoints import LOOPBACK, WILDCARDS
from .authority import Authority, Certificate

STORE_PASSWORD = "odradek"
"""Password of the PKCS12 stores. It protects nothing, but Java demands one."""
LOCAL = ("localhost", LOOPBACK, "::1")
CLIENT_NAME = "client"


class GeneratedTls:
    """A CA, a certificate for each node, and files for clients."""

    def __init__(self, config: ClusterConfig, now: datetime) -> None:
        self._config, self._now = config, now
        self._authority = Authority(now)
        self._certificates = _issue(self._authority, config)
        self._client: Certificate | None = None
        self._directory = _new_directory()
        self.ca_file = self._write("ca.pem", self._authority.pem)
        """Path of the CA's certificate as PEM, which clients have to trust."""

    @property
    def ca(self) -> bytes:
        """The certificate of the CA as PEM."""
        return self._authority.pem

    def certificate(self, node_id: int) -> Certificate:
        """Returns the certificate of a node."""
        return self._certificates[node_id]

    @cached_property
    def forged_certificates(self) -> dict[int, Certificate]:
        """The certificates of nodes that pretend to be those of the cluster, signed by another CA of the same name."""
        return _issue(Authority(self._now), self._config)

    @property
    def trust_store(self) -> str:
        """Path of a PKCS12 store for Java that contains the CA. Its password is STORE_PASSWORD."""
        return self._write("truststore.p12", self._authority.java_trust_store(STORE_PASSWORD))

    @property
    def client_certificate(self) -> str:
        """Path of a certificate for clients as PEM, with the distinguished name CN=client."""
        return self._write("client.pem", self._client_certificate.chain)

    @property
    def client_key(self) -> str:
        """Path of the private key of the certificate for clients."""
        return self._write("client.key", self._client_certificate.key)

    @property
    def client_key_store(self) -> str:
        """Path of a PKCS12 store for Java with the certificate for clients. Its password is STORE_PASSWORD."""
        return self._write("client.p12", self._client_certificate.pkcs12(STORE_PASSWORD))

    @property
    def _client_certificate(self) -> Certificate:
        if self._client is None:
            self._client = self._authority.issue(CLIENT_NAME)
        return self._client

    def _write(self, name: str, content: bytes) -> str:
        path = self._directory / name
        if not path.exists():
            path.touch(mode=0o600)
            path.write_bytes(content)
        return str(path)

    def close(self) -> None:
        """Deletes the files."""
        shutil.rmtree(self._directory, ignore_errors=True)


def _issue(authority: Authority, config: ClusterConfig) -> dict[int, Certificate]:
    """Returns a certificate for each node, by its id."""
    return {
        node.node_id: authority.issue(
            f"node-{node.node_id}", _addresses(each for listener in node.listeners for each in (listener.advertised_host, listener.host))
        )
        for node in config.nodes
    }


def _new_directory() -> Path:
    """Returns a new folder that only this user can read. Raises OSError if no folder for temporary files can be written to."""
    try:
        return Path(tempfile.mkdtemp(prefix="odradek-tls-"))
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"generated certificates need a folder for temporary files, such as --tmpfs /tmp in a container, or TMPDIR: {error}"
        ) from None


def _addresses(hosts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*(host for host in hosts if host not in WILDCARDS), *LOCAL]))
