"""IO: a TCP proxy before PostgreSQL that cuts a connection at its COMMIT: the client cannot know what came of it.

It reads the wire protocol and changes nothing: until a cut is armed every byte passes. `ANSWER`: the server has
committed, its answer is thrown away. `RACE`: COMMIT goes out and the connection ends in the same moment. `REQUEST`:
COMMIT never reaches the server, which rolls back. To the client these look the same. `STATEMENT` cuts earlier, in the
middle of a transaction: what the client sent before it has reached the server. `HOLD` cuts nothing: the statement goes
on when `meanwhile` is over, however late.
"""

from __future__ import annotations

import selectors
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType

from tests.support.wire import Frames, Statements, ends_turn, is_commit, is_commit_done

CHUNK = 64 * 1024
WAIT_SECONDS = 0.2


class Cut(StrEnum):
    """When the connection is cut."""

    ANSWER = "answer"
    RACE = "race"
    REQUEST = "request"
    STATEMENT = "statement"
    HOLD = "hold"


@dataclass(slots=True, kw_only=True)
class Armed:
    """One cut to come: of the next COMMIT of a transaction that mentions `word` (STATEMENT, HOLD: of the mention).

    `given` is what must stand in the message itself, such as a parameter (STATEMENT, HOLD). `skip` as many are let pass
    before. `meanwhile` is called while everything is held, before the connection ends: the place to kill whom one
    likes. `done` is set afterwards.
    """

    cut: Cut
    word: bytes = b""
    given: bytes = b""
    skip: int = 0
    meanwhile: Callable[[], None] = lambda: None
    done: threading.Event = field(default_factory=threading.Event)
    problem: BaseException | None = None

    def happened(self, seconds: float) -> bool:
        """Wait for the cut; what went wrong in `meanwhile` is raised here."""
        cut = self.done.wait(seconds)
        if self.problem is not None:
            raise self.problem
        return cut


@dataclass(slots=True)
class _Pair:
    """One client's connection with its connection to the server."""

    client: socket.socket
    server: socket.socket
    asked: Frames = field(default_factory=lambda: Frames(typed=False))
    answered: Frames = field(default_factory=lambda: Frames(typed=True))
    statements: Statements = field(default_factory=Statements)
    awaited: Armed | None = None
    raw_answers: int = 0


class CommitProxy:
    """Listens on a free loopback port; a context manager. `port` may be given to take a certain one."""

    def __init__(self, server_port: int, *, port: int = 0) -> None:
        self._server = ("127.0.0.1", server_port)
        self._armed: Armed | None = None
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", port))
        self._listener.settimeout(WAIT_SECONDS)
        self._threads: list[threading.Thread] = []

    @property
    def port(self) -> int:
        """Where clients connect."""
        return int(self._listener.getsockname()[1])

    def arm(
        self, cut: Cut, *, word: str = "", given: str = "", skip: int = 0, meanwhile: Callable[[], None] = lambda: None
    ) -> Armed:
        """Cut the next COMMIT whose transaction mentions `word`, on whichever connection it comes."""
        armed = Armed(cut=cut, word=word.encode(), given=given.encode(), skip=skip, meanwhile=meanwhile)
        with self._lock:
            self._armed = armed
        return armed

    def disarm(self) -> None:
        """Let everything pass again."""
        with self._lock:
            self._armed = None

    def __enter__(self) -> CommitProxy:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        for thread in list(self._threads):
            thread.join(timeout=5)
        self._listener.close()

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True, name="commit-proxy")
        self._threads = [thread for thread in self._threads if thread.is_alive()] + [thread]
        thread.start()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            try:
                server = socket.create_connection(self._server, timeout=5)
            except OSError:
                client.close()
                continue
            for peer in (client, server):
                peer.settimeout(None)
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._start(self._serve, _Pair(client, server))

    def _serve(self, pair: _Pair) -> None:
        with pair.client, pair.server, selectors.DefaultSelector() as ready, suppress(OSError):
            ready.register(pair.client, selectors.EVENT_READ, self._from_client)
            ready.register(pair.server, selectors.EVENT_READ, self._from_server)
            while not self._stopping.is_set():
                for key, _ in ready.select(WAIT_SECONDS):
                    data = key.fileobj.recv(CHUNK)  # type: ignore[union-attr]
                    if not data or not key.data(pair, data):
                        return

    def _from_client(self, pair: _Pair, data: bytes) -> bool:
        """Pass a client's bytes on; False when the connection is cut."""
        sent, turn, end, last = 0, 0, -pair.asked.waiting, b""
        for kind, message in pair.asked.feed(data):
            begin, end = max(0, end), end + len(message)
            turn, last = begin if ends_turn(last) else turn, kind
            if kind == b"" and not pair.asked.typed:
                pair.raw_answers += 1
            text = pair.statements.note(kind, message)
            if text is None:
                continue
            armed = self._take(pair.statements, text, message)
            if is_commit(text):
                pair.statements.seen.clear()
            if armed is None:
                continue
            if armed.cut is Cut.ANSWER:
                pair.awaited = armed
                continue
            # Held in the middle of a pipeline, the server would not count the time as idle.
            upto = {Cut.RACE: len(data), Cut.HOLD: turn}.get(armed.cut, begin)
            pair.server.sendall(data[sent:upto])
            sent = max(sent, upto)
            self._happen(armed)
            if armed.cut is not Cut.HOLD:
                return False
        pair.server.sendall(data[sent:])
        return True

    def _from_server(self, pair: _Pair, data: bytes) -> bool:
        """Pass a server's bytes on, but not the answer that is to be lost."""
        if pair.raw_answers:
            raw, pair.raw_answers = min(pair.raw_answers, len(data)), max(0, pair.raw_answers - len(data))
            framed = data[raw:]
        else:
            framed = data
        done = [is_commit_done(*frame) for frame in pair.answered.feed(framed)]
        if any(done) and pair.awaited is not None:
            self._happen(pair.awaited)
            return False
        pair.client.sendall(data)
        return True

    def _take(self, statements: Statements, text: bytes, message: bytes) -> Armed | None:
        with self._lock:
            armed = self._armed
            if armed is None:
                return None
            if armed.cut in (Cut.STATEMENT, Cut.HOLD):
                met = not is_commit(text) and armed.word in text and armed.given in message
            else:
                met = is_commit(text) and statements.mention(armed.word)
            if not met:
                return None
            if armed.skip:
                armed.skip -= 1
                return None
            self._armed = None
            return armed

    @staticmethod
    def _happen(armed: Armed) -> None:
        try:
            armed.meanwhile()
        except BaseException as problem:
            armed.problem = problem
            raise
        finally:
            armed.done.set()
