"""IO: a TCP relay before PostgreSQL that counts round trips (ReadyForQuery messages) and bytes in both directions."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tests.support.wire import Frames


@dataclass(slots=True)
class Counted:
    """Totals since the relay started; take differences."""

    round_trips: int = 0
    bytes_sent: int = 0
    bytes_received: int = 0


@contextmanager
def relay(port: int) -> Iterator[tuple[int, Counted]]:
    """(port of the relay, its totals). Encryption must be off: `sslmode=disable&gssencmode=disable`."""
    counted = Counted()
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_accept, args=(server, port, counted), daemon=True)
        thread.start()
        yield server.getsockname()[1], counted


def _accept(server: socket.socket, port: int, counted: Counted) -> None:
    while True:
        try:
            client, _ = server.accept()
        except OSError:
            return
        backend = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=_client_to_server, args=(client, backend, counted), daemon=True).start()
        threading.Thread(target=_server_to_client, args=(backend, client, counted), daemon=True).start()


def _client_to_server(client: socket.socket, backend: socket.socket, counted: Counted) -> None:
    with contextlib.suppress(OSError):
        while data := client.recv(65536):
            counted.bytes_sent += len(data)
            backend.sendall(data)
        backend.shutdown(socket.SHUT_WR)


def _server_to_client(backend: socket.socket, client: socket.socket, counted: Counted) -> None:
    frames = Frames(typed=True)
    with client, backend, contextlib.suppress(OSError):
        while data := backend.recv(65536):
            counted.bytes_received += len(data)
            counted.round_trips += sum(kind == b"Z" for kind, _ in frames.feed(data))
            client.sendall(data)
        # Wakes the other direction, which may still be reading.
        client.shutdown(socket.SHUT_RDWR)
