"""IO: the network between the hosts: TCP relays that can be cut, frozen and mended while they pass bytes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from contextlib import suppress

CHUNK = 64 * 1024
CONNECT_SECONDS = 2.0

Address = tuple[str, int]


class Network:
    """An event loop in a thread that serves all wires."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True, name="network")
        self._thread.start()
        self.wires: dict[str, Wire] = {}

    def wire(self, name: str, *targets: Address) -> Wire:
        """A new wire that listens on a free loopback port. It leads to the first target that accepts."""
        made = Wire(self.loop, targets)
        asyncio.run_coroutine_threadsafe(made.listen(), self.loop).result(10)
        self.wires[name] = made
        return made

    def close(self) -> None:
        for wire in self.wires.values():
            wire.cut()
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(5)


class Wire:
    """One way from a host to a server, possibly with several nodes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, targets: Sequence[Address]) -> None:
        self._loop, self._targets = loop, tuple(targets)
        self._passes = asyncio.Event()
        self._passes.set()
        self._is_cut = False
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    async def listen(self) -> None:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """End every connection, and accept none, as a network whose router says no."""
        self._loop.call_soon_threadsafe(self._cut)

    def freeze(self) -> None:
        """Pass nothing and end nothing, as a network that loses every packet."""
        self._loop.call_soon_threadsafe(self._passes.clear)

    def mend(self) -> None:
        """Pass everything again."""
        self._loop.call_soon_threadsafe(self._mend)

    def _cut(self) -> None:
        self._is_cut = True
        for writer in list(self._writers):
            writer.transport.abort()

    def _mend(self) -> None:
        self._is_cut = False
        self._passes.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = None if self._is_cut else await self._connected()
        if there is None:
            writer.transport.abort()
            return
        ends = (writer, there[1])
        self._writers.update(ends)
        try:
            await asyncio.gather(self._pass(reader, there[1]), self._pass(there[0], writer))
        finally:
            self._writers.difference_update(ends)
            for end in ends:
                end.transport.abort()

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter] | None:
        await self._passes.wait()
        for host, port in self._targets:
            with suppress(OSError, TimeoutError):
                return await asyncio.wait_for(asyncio.open_connection(host, port), CONNECT_SECONDS)
        return None

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                await self._passes.wait()
                writer.write(data)
                await writer.drain()
        with suppress(OSError, RuntimeError):
            writer.write_eof()
