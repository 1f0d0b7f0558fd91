"""Pure: as much of PostgreSQL's wire protocol (version 3) as is needed to see transactions end."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

NO_ENCRYPTION = (80877103, 80877104)
"""Codes of SSLRequest and GSSENCRequest: answered by the server with one byte."""


@dataclass(slots=True)
class Frames:
    """Cuts a byte stream into messages. `typed` is False while the stream's next message has no type byte (startup)."""

    typed: bool
    _left: bytearray = field(default_factory=bytearray)

    @property
    def waiting(self) -> int:
        """Bytes of a message that is not complete yet."""
        return len(self._left)

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        """(type, whole message) of every message that is complete now; an untyped one has the type b''."""
        self._left += data
        while True:
            head = 1 if self.typed else 0
            if len(self._left) < head + 4:
                return
            size = head + struct.unpack_from("!I", self._left, head)[0]
            if len(self._left) < size:
                return
            message = bytes(self._left[:size])
            del self._left[:size]
            kind = message[:1] if self.typed else b""
            if not self.typed and struct.unpack_from("!I", message, 4)[0] not in NO_ENCRYPTION:
                self.typed = True
            yield kind, message


@dataclass(slots=True)
class Statements:
    """What a client has sent in this transaction: remembers the texts of prepared statements, which are sent once."""

    seen: list[bytes] = field(default_factory=list)
    _prepared: dict[bytes, bytes] = field(default_factory=dict)

    def note(self, kind: bytes, message: bytes) -> bytes | None:
        """The statement's text when this message carries or runs one."""
        text = self._text(kind, message)
        if text is not None:
            if text.strip().upper().startswith((b"BEGIN", b"ROLLBACK")):
                self.seen.clear()
            self.seen.append(text)
        return text

    def mention(self, word: bytes) -> bool:
        """Whether a statement of this transaction contains `word`."""
        return any(word in text for text in self.seen)

    def _text(self, kind: bytes, message: bytes) -> bytes | None:
        body = message[5:]
        if kind == b"Q":
            return body.split(b"\0", 1)[0]
        if kind == b"P":
            name, text = body.split(b"\0", 2)[:2]
            self._prepared[name] = text
            return None
        if kind == b"B":
            return self._prepared.get(body.split(b"\0", 2)[1], b"")
        return None


def ends_turn(kind: bytes) -> bool:
    """Behind a client's message of this type the server answers whether it is ready: Sync, a simple query."""
    return kind in (b"S", b"Q")


def is_commit(text: bytes | None) -> bool:
    """A client's COMMIT."""
    return text is not None and text.strip().rstrip(b";").upper() == b"COMMIT"


def is_commit_done(kind: bytes, message: bytes) -> bool:
    """The server's word that COMMIT is done: CommandComplete with the tag COMMIT."""
    return kind == b"C" and message[5:] == b"COMMIT\0"
