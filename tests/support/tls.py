"""IO: a TLS front for a server that has none: it ends TLS and passes the bytes on, as a load balancer does.

With `postgres` it answers libpq's request for TLS first.
"""

from __future__ import annotations

import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

SSL_REQUEST = struct.pack(">II", 8, 80877103)
CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A certificate with its private key, and the root that signed it."""

    certificate: Path
    key: Path
    root: Path


def certificate(folder: Path, name: str = "localhost") -> Certificate:
    """A certificate for this name and for 127.0.0.1, by an authority of its own. rustls takes no root as a server's."""
    files = {part: folder / f"{name}.{part}" for part in ("crt", "key", "csr", "ext", "root", "rootkey")}
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    files["ext"].write_text(f"subjectAltName=DNS:{name},IP:127.0.0.1\nbasicConstraints=CA:FALSE\n")
    _openssl("req", "-x509", *curve, "-days", "2", "-subj", f"/CN={name} authority",
             "-keyout", files["rootkey"], "-out", files["root"])  # fmt: skip
    _openssl("req", *curve, "-subj", f"/CN={name}", "-keyout", files["key"], "-out", files["csr"])
    _openssl("x509", "-req", "-days", "2", "-in", files["csr"], "-CA", files["root"], "-CAkey", files["rootkey"],
             "-CAcreateserial", "-extfile", files["ext"], "-out", files["crt"])  # fmt: skip
    files["key"].chmod(0o600)
    return Certificate(certificate=files["crt"], key=files["key"], root=files["root"])


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)


@contextmanager
def front(
    target: tuple[str, int], own: Certificate, *, postgres: bool = False, clients: Certificate | None = None
) -> Iterator[int]:
    """The port of the front. With `clients`, a client must show that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(own.certificate, own.key)
    context.set_alpn_protocols(["postgresql" if postgres else "h2"])
    if clients is not None:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(clients.root)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_accept, args=(listener, context, target, postgres), daemon=True).start()
        yield int(listener.getsockname()[1])
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)


def _accept(listener: socket.socket, context: ssl.SSLContext, target: tuple[str, int], postgres: bool) -> None:
    with suppress(OSError):
        while True:
            client, _ = listener.accept()
            threading.Thread(target=_serve, args=(client, context, target, postgres), daemon=True).start()


def _serve(client: socket.socket, context: ssl.SSLContext, target: tuple[str, int], postgres: bool) -> None:
    """Pass the bytes of one client on. A client without TLS is refused, as by a server that demands TLS."""
    with suppress(OSError), client:
        if postgres:
            if client.recv(len(SSL_REQUEST)) != SSL_REQUEST:
                return
            client.sendall(b"S")
        with context.wrap_socket(client, server_side=True) as tls, socket.create_connection(target) as server:
            back = threading.Thread(target=_pass, args=(server, tls), daemon=True)
            back.start()
            _pass(tls, server)
            back.join()


def _pass(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(CHUNK):
            sink.sendall(data)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_RDWR)
