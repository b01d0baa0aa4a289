"""A Kafka broker that lets in only clients that prove who they are, over TLS."""

from pathlib import Path
from typing import Any, Final

import trustme
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from kafka.admin import ScramMechanism, UserScramCredentialUpsertion

from tests.services.kafka import KafkaBroker
from tests.services.process import free_port

USER: Final = "aem"
PASSWORD: Final = "hunter2"

_PROPERTIES: Final = """\
ssl.keystore.type=PEM
ssl.keystore.location={server}
ssl.truststore.type=PEM
ssl.truststore.location={authority}
listener.name.ssl.ssl.client.auth=required
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_ssl.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required user_{user}="{password}";
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required;
"""


def _pkcs8(issued: trustme.LeafCert) -> bytes:
    """The key in the only form that Kafka reads."""
    key = load_pem_private_key(issued.private_key_pem.bytes(), password=None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


class SecuredBroker(KafkaBroker):
    """``tls`` asks for a certificate of its authority, ``sasl`` for a user and a password. The certificate of both is
    for ``localhost``. ``authority``, ``certificate`` and ``key`` are PEM files for clients, ``stranger`` is another
    authority."""

    def __init__(self, folder: Path) -> None:
        self.authority, self.stranger = folder / "ca.pem", folder / "stranger.pem"
        self.certificate, self.key = folder / "client.pem", folder / "client.key"
        server = folder / "server.pem"
        authority = trustme.CA()
        authority.cert_pem.write_to_path(self.authority)
        trustme.CA().cert_pem.write_to_path(self.stranger)
        issued = authority.issue_cert("localhost")
        server.write_bytes(_pkcs8(issued) + b"".join(one.bytes() for one in issued.cert_chain_pems))
        client = authority.issue_cert("aem-monitor.example")
        client.private_key_pem.write_to_path(self.key)
        self.certificate.write_bytes(b"".join(one.bytes() for one in client.cert_chain_pems))
        tls, sasl = free_port(), free_port()
        self.tls, self.sasl = f"localhost:{tls}", f"localhost:{sasl}"
        super().__init__(
            listeners=(f"SSL://{self.tls}", f"SASL_SSL://{self.sasl}"),
            properties=_PROPERTIES.format(server=server, authority=self.authority, user=USER, password=PASSWORD),
        )

    def start(self, timeout: float = 90.0) -> None:
        """Start it, and have it know the user by SCRAM, too."""
        super().start(timeout)
        admin: Any = self.admin()
        try:
            for mechanism in (ScramMechanism.SCRAM_SHA_256, ScramMechanism.SCRAM_SHA_512):
                credential = UserScramCredentialUpsertion(USER, mechanism, PASSWORD.encode(), iterations=4096)
                assert admin.alter_user_scram_credentials([credential]) == {USER: None}
        finally:
            admin.close()
