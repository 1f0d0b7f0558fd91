"""One change to a good approval, of nine kinds, each of which must make it unacceptable.

`byte`, `signature` and `envelope` change files that were signed rightly. `field`, `encoding` and `front_matter` change
the statement and then sign it rightly by an approver: the judge must see it without gpg's help. `key` signs a good
statement wrongly. `time` moves the clock, the request or the statement's times. `list` changes an approval that the
signature of a list signs.

Changes of a signature stay in what it protects, its hashed part and its numbers. What elsewhere in a packet may change
without gpg minding is the matter of p10_signature_bit_flips.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cutter.approvals import schema
from cutter.approvals.request import RequestTuple
from cutter.approvals.statement import Statement, render
from cutter.approvals.verdict import ApprovalDocument, Expected
from cutter.catalogue import Sovereign
from cutter.openpgp import armor, dearmor
from tests.cases.approval_cases import HOURS, World, digest, raw_gpg
from tests.cases.list_mutations import listed, mutate_listed
from tests.cases.trials import Dice

HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)
OTHER_UUID = "00000000-0000-0000-0000-0000000000ff"


@dataclass(frozen=True, slots=True, kw_only=True)
class BadKeys:
    """Keys that must not count: revoked, expired (with a moment when it was valid), and one that signs with SHA-1."""

    revoked: str
    expired: str
    expired_valid_at: int
    rsa: str
    home_before_revocation: Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Good:
    """An approval that is accepted as it stands, and what it is judged against."""

    world: World
    document: ApprovalDocument
    statement: Statement
    expected: Expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """What became of a good approval; `how` says what was changed."""

    kind: str
    how: str
    document: ApprovalDocument
    expected: Expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """All that mutations need."""

    world: World
    bad: BadKeys

    def good(self, dice: Dice) -> Good:
        """A fresh good approval of a random kind, signed now by a random approver."""
        return good_approval(self.world, dice)

    def signed(self, statement: Statement | bytes, by: str) -> ApprovalDocument:
        body = statement if isinstance(statement, bytes) else render(statement)
        return self.world.sign(body, by=by)

    def key_of(self, good: Good) -> str:
        return self.world.alice if good.statement.approver == "alice" else self.world.bob


def _run(world: World, request: RequestTuple, dice: Dice) -> tuple[Statement, Expected]:
    decision = dice.choose([schema.APPROVE, schema.APPROVE, schema.REJECT])
    life = dice.between(1, 6) * HOUR
    return world.statement(request, decision=decision, not_after=world.now + life), world.expected(request)


def _batch(world: World, request: RequestTuple, dice: Dice) -> tuple[Statement, Expected]:
    statement = Statement(
        deployment_id=request.deployment_id,
        gate=request.gate,
        decision=schema.APPROVE,
        binding=schema.TUPLE,
        document_id=request.document_id,
        batch_id="nightly-1",
        source_version_id=request.source_version_id,
        writer_digest=request.writer_digest,
        candidate_count=request.candidate_count,
        findings_digest=request.findings_digest,
        accepted_findings=request.accepted_findings,
        request_sha256=digest("dry request"),
        review_decision_id=request.review_decision_id,
        signed_utc=world.now,
        not_after=world.now + dice.between(1, 11) * HOUR,
        approver="alice",
    )
    expected = world.expected(
        request,
        bindings=frozenset((schema.TUPLE,)),
        batch_id="nightly-1",
        dryrun_request_sha256=digest("dry request"),
    )
    return statement, expected


def good_approval(world: World, dice: Dice) -> Good:
    """A fresh good approval of a random kind, signed now by a random approver."""
    # gpg signs by the real clock, so a long campaign's runs take place at it too.
    world = replace(world, now=datetime.now(tz=UTC).replace(microsecond=0))
    nonce = dice.bytes(16).hex()
    request = world.request(dice.choose(list(Sovereign)), nonce=nonce)
    name, key = dice.choose([("alice", world.alice), ("bob", world.bob)])
    statement, expected = dice.choose([_run, _run, _batch])(world, request, dice)
    statement = replace(statement, approver=name, text=f"Trial {nonce}, điều này tốt.\n")
    document = world.sign(render(statement), by=key)
    return Good(world=world, document=document, statement=statement, expected=expected)


def mutate(bench: Bench, kind: str, dice: Dice) -> Mutant:
    """One mutant of that kind."""
    good = bench.good(dice)
    how, document, expected = _KINDS[kind](bench, good, dice)
    return Mutant(kind=kind, how=how, document=document, expected=expected)


def listed_approval(good: Good, dice: Dice) -> Good:
    """The same approval, signed in a list."""
    key = good.world.alice if good.statement.approver == "alice" else good.world.bob
    return replace(good, document=listed(good.world, good.document.body, by=key, dice=dice).document)


Change = tuple[str, ApprovalDocument, Expected]


def _byte(_: Bench, good: Good, dice: Dice) -> Change:
    body = bytearray(good.document.body)
    at = dice.below(len(body))
    how = dice.choose(["flip", "replace", "insert", "delete", "append", "truncate"])
    if how == "flip":
        body[at] ^= 1 << dice.below(8)
    elif how == "replace":
        body[at] = (body[at] + dice.between(1, 255)) % 256
    elif how == "insert":
        body[at:at] = dice.bytes(1)
    elif how == "delete":
        del body[at]
    elif how == "append":
        body += dice.bytes(dice.between(1, 4))
    else:
        del body[at:]
    return how, replace(good.document, body=bytes(body)), good.expected


def _signature(bench: Bench, good: Good, dice: Dice) -> Change:
    packets = bytearray(_packets(good.document.signature))
    how = dice.choose(["hashed", "number", "truncate", "of another statement", "random"])
    hashed = int.from_bytes(packets[6:8], "big")
    if how == "hashed":
        packets[dice.between(2, 7 + hashed)] ^= 1 << dice.below(8)
    elif how == "number":
        packets[len(packets) - 1 - dice.below(32)] ^= 1 << dice.below(8)
    elif how == "truncate":
        del packets[dice.below(len(packets)) :]
    elif how == "of another statement":
        other = replace(good.statement, text="Another one.\n")
        return how, replace(good.document, signature=bench.signed(other, bench.key_of(good)).signature), good.expected
    else:
        packets[8 + hashed :] = dice.bytes(len(packets) - 8 - hashed)
    return how, replace(good.document, signature=armor(bytes(packets))), good.expected


def _envelope(bench: Bench, good: Good, dice: Dice) -> Change:
    file, body, key = good.document.signature, good.document.body, bench.key_of(good)
    packets = _packets(file)
    junk = dice.bytes(dice.between(1, 40))
    user = ("--local-user", key)
    makers: dict[str, Callable[[], tuple[bytes, bytes]]] = {
        "file twice": lambda: (body, file + file),
        "packet twice": lambda: (body, armor(packets * 2)),
        "second signer": lambda: (body, armor(packets + _packets(bench.signed(body, bench.world.alice).signature))),
        "second signer first": lambda: (body, armor(_packets(bench.signed(body, bench.world.bob).signature) + packets)),
        "foreign packet": lambda: (body, armor(packets + bytes([0xCB, len(junk)]) + junk)),
        "marker packet before": lambda: (body, armor(b"\xca\x03PGP" + packets)),
        "junk behind": lambda: (body, file + junk.hex().encode() + b"\n"),
        "junk before": lambda: (body, junk.hex().encode() + b"\n" + file),
        "not armored": lambda: (body, packets),
        "empty": lambda: (body, b""),
        "key block": lambda: (body, file.replace(b"PGP SIGNATURE", b"PGP PUBLIC KEY BLOCK")),
        "message block": lambda: (body, file.replace(b"PGP SIGNATURE", b"PGP MESSAGE")),
        "wrong checksum": lambda: (body, _wrong_checksum(file)),
        "clearsigned statement": lambda: _with_own_signature(bench, key, raw_gpg(
            bench.world.people, *user, "--clearsign", stdin=body)),
        "clearsigned as signature": lambda: (body, raw_gpg(bench.world.people, *user, "--clearsign", stdin=body)),
        "inline as signature": lambda: (body, raw_gpg(bench.world.people, *user, "--armor", "--sign", stdin=body)),
        "files swapped": lambda: (file, body),
    }  # fmt: skip
    how = dice.choose(sorted(makers))
    changed, signature = makers[how]()
    return how, replace(good.document, body=changed, signature=signature), good.expected


def _wrong_checksum(file: bytes) -> bytes:
    before, _, after = file.rpartition(b"\n=")
    return before + b"\n=" + (b"AAAA" if after[:4] != b"AAAA" else b"BBBB") + after[4:]


def _with_own_signature(bench: Bench, key: str, body: bytes) -> tuple[bytes, bytes]:
    return body, bench.signed(body, key).signature


def _field(bench: Bench, good: Good, dice: Dice) -> Change:
    names = schema.fields_of(good.statement.decision, good.statement.binding, good.statement.gate) or ()
    bound = [name for name in names if name in _OTHER]
    name = dice.choose(bound)
    changed = replace(good.statement, **{name: _OTHER[name](good.statement, dice)})
    return name, bench.signed(changed, bench.key_of(good)), good.expected


def _other_name(statement: Statement, dice: Dice) -> str:
    return dice.choose([name for name in ("alice", "bob", "mallory", "olga") if name != statement.approver])


_OTHER: Mapping[str, Callable[[Statement, Dice], Any]] = {
    "deployment_id": lambda _, dice: dice.choose([OTHER_UUID, "3f2b1c00-0000-4000-8000-00000000000a"]),
    "run_id": lambda statement, dice: f"{str(statement.run_id)[:-4]}{dice.between(0, 0x4A5A):04x}",
    "batch_id": lambda _, dice: f"nightly-{dice.between(2, 999)}",
    "document_id": lambda statement, dice: f"{statement.document_id}{dice.below(10)}",
    "source_version_id": lambda *_: OTHER_UUID,
    "writer_digest": lambda _, dice: dice.bytes(32).hex(),
    "manifest_digest": lambda _, dice: dice.bytes(32).hex(),
    "region_sha": lambda _, dice: dice.bytes(32).hex(),
    "candidate_count": lambda statement, dice: (statement.candidate_count or 0) + dice.between(1, 40),
    "findings_digest": lambda _, dice: dice.bytes(32).hex(),
    "accepted_findings": lambda statement, dice: dice.choose(
        [f"looks_uncut:LINE-{dice.between(1, 99)}", *(["none"] if statement.accepted_findings != "none" else [])]
    ),
    "change_set_id": lambda *_: OTHER_UUID,
    "grants_sha256": lambda _, dice: dice.bytes(32).hex(),
    "review_decision_id": lambda *_: OTHER_UUID,
    "nonce": lambda _, dice: dice.bytes(16).hex(),
    "challenge": lambda _, dice: dice.bytes(32).hex(),
    "request_sha256": lambda _, dice: dice.bytes(32).hex(),
    "approver": _other_name,
}


def _key(bench: Bench, good: Good, dice: Dice) -> Change:
    world, bad, body = good.world, bench.bad, good.document.body
    how = dice.choose(["stranger", "other approver", "expired", "revoked", "SHA-1", "text mode"])
    own = ("--armor", "--local-user")
    if how == "stranger":
        document = bench.signed(body, world.mallory)
    elif how == "other approver":
        document = bench.signed(body, world.bob if good.statement.approver == "alice" else world.alice)
    else:
        words = {
            "expired": ("--faked-system-time", f"{bad.expired_valid_at}", *own, bad.expired),
            "revoked": (*own, bad.revoked),
            "SHA-1": ("--digest-algo", "SHA1", *own, bad.rsa),
            "text mode": ("--textmode", *own, bench.key_of(good)),
        }[how]
        # The revoked key can sign no longer in the people's home; its signature is made in the home that it had before.
        home = bad.home_before_revocation if how == "revoked" else None
        signature = raw_gpg(world.people, *words, "--detach-sign", "-", stdin=body, home=home)
        document = replace(good.document, signature=signature)
    return how, document, good.expected


def _time(bench: Bench, good: Good, dice: Dice) -> Change:
    statement, expected = good.statement, good.expected
    now, life = good.world.now, timedelta(seconds=expected.ttl_seconds(statement.binding))
    far = timedelta(seconds=dice.between(1, 100_000))
    resigned: dict[str, dict[str, datetime]] = {
        "not_after is past": {"not_after": now - far},
        "not_after is now": {"not_after": now},
        "lives too long": {"not_after": statement.signed_utc + life + far},
        "signed_utc too early": {"signed_utc": now - 31 * MINUTE - far},
        "signed_utc too late": {"signed_utc": now + HOUR + far},
    }
    moved: dict[str, dict[str, Any]] = {
        "used after its end": {"now": statement.not_after + far},
        "used at its end": {"now": statement.not_after},
        "used before it was signed": {"now": now - 2 * MINUTE - far},
        "revoked": {"revoked": True},
    }
    if statement.binding == schema.RUN:
        moved["request expired"] = {"request_expires": now - far}
    how = dice.choose(sorted([*resigned, *moved, "signed in the past", "signed in the future"]))
    if how in resigned:
        return how, bench.signed(replace(statement, **resigned[how]), bench.key_of(good)), expected
    if how in moved:
        return how, good.document, replace(expected, **moved[how])
    away = dice.between(2, 20) * HOURS * (1 if how == "signed in the future" else -1)
    words = ("--faked-system-time", f"{int(now.timestamp()) + away}")
    signature = raw_gpg(
        bench.world.people, *words, "--armor", "--local-user", bench.key_of(good), "--detach-sign", "-",
        stdin=good.document.body,
    )  # fmt: skip
    return how, replace(good.document, signature=signature), expected


def _encoding(bench: Bench, good: Good, dice: Dice) -> Change:
    body = good.document.body
    text = body.decode()
    hidden = dice.choose(["\u200b", "\u202e", "\u2066", "\ufeff", "\u2028", "\u00ad", "\x00", "\x1b", "\x7f", "\u0085"])
    at = dice.below(len(text))
    makers: dict[str, Callable[[], bytes]] = {
        "utf-16": lambda: text.encode("utf-16"),
        "utf-32": lambda: text.encode("utf-32-le"),
        "latin": lambda: text.encode("cp1258", "replace").replace(b"?", b"\xea"),
        "byte order mark": lambda: b"\xef\xbb\xbf" + body,
        "carriage returns": lambda: body.replace(b"\n", b"\r\n"),
        "one carriage return": lambda: body.replace(b"\n", b"\r\n", 1),
        "old line ends": lambda: body.replace(b"\n", b"\r"),
        "not NFC": lambda: unicodedata.normalize("NFD", text).encode(),
        "hidden character": lambda: (text[:at] + hidden + text[at:]).encode(),
        "broken byte": lambda: body[:at] + bytes([dice.between(0x80, 0xFF), 0x20]) + body[at:],
        "overlong": lambda: body.replace(b":", b"\xc0\xba", 1),
        "surrogate": lambda: body + b"\xed\xa0\x80",
        "look-alike": lambda: text.replace("approver: ", "approver: \u0430").encode(),
        "full width": lambda: text.replace("explicit", "\uff45xplicit").encode(),
    }
    how = dice.choose(sorted(makers))
    return how, bench.signed(makers[how](), bench.key_of(good)), good.expected


def _front_matter(bench: Bench, good: Good, dice: Dice) -> Change:
    lines = good.document.body.decode().split("\n")
    end = lines.index("---", 1)
    at = dice.between(1, end - 1)
    name, _, value = lines[at].partition(": ")
    foreign = dice.choose(["stopped_state: stopped_x", f"fingerprint: {'0' * 64}", "colour: red", "Approver: alice"])
    replaced = {
        "null": f"{name}: null",
        "tilde": f"{name}: ~",
        "no value": f"{name}:",
        "quoted": f'{name}: "{value}"',
        "single quoted": f"{name}: '{value}'",
        "tag": f"{name}: !!str {value}",
        "anchor": f"{name}: &a {value}",
        "alias": f"{name}: *a",
        "list": f"{name}: [{value}]",
        "mapping": f"{name}: {{a: {value}}}",
        "block": f"{name}: |\n  {value}",
        "folded": f"{name}: >-\n  {value}",
        "comment": f"{name}: {value} # approve",
        "comment line": f"# {lines[at]}",
        "indent": f"  {lines[at]}",
        "tab": f"{name}:\t{value}",
        "two spaces": f"{name}:  {value}",
        "trailing space": f"{lines[at]} ",
        "upper-case key": f"{name.upper()}: {value}",
        "merge key": "<<: *a",
        "explicit key": f"? {name}\n: {value}",
        "list item": f"- {lines[at]}",
        "blank line": f"\n{lines[at]}",
        "document end": f"{lines[at]}\n...",
        "missing": None,
        "repeated": f"{lines[at]}\n{lines[at]}",
        "foreign field": f"{lines[at]}\n{foreign}",
    }
    special = ("no opening", "no closing", "line before", "second front matter first", "longer fence")
    how = dice.choose(sorted([*replaced, *special]))
    if how in replaced:
        new = replaced[how]
        lines[at : at + 1] = [] if new is None else [new]
    elif how == "no opening":
        del lines[0]
    elif how == "no closing":
        del lines[end]
    elif how == "line before":
        lines.insert(0, "")
    elif how == "longer fence":
        lines[0] = "----"
    else:
        lines[0:0] = ["---", "note: x", "---"]
    return how, bench.signed("\n".join(lines).encode(), bench.key_of(good)), good.expected


def _list(bench: Bench, good: Good, dice: Dice) -> Change:
    key = bench.key_of(good)
    approval = listed(good.world, good.document.body, by=key, dice=dice)
    return *mutate_listed(good.world, approval, by=key, dice=dice), good.expected


def _packets(file: bytes) -> bytes:
    packets = dearmor(file)
    assert isinstance(packets, bytes)
    return packets


_KINDS: Mapping[str, Callable[[Bench, Good, Dice], Change]] = {
    "byte": _byte,
    "field": _field,
    "signature": _signature,
    "envelope": _envelope,
    "key": _key,
    "time": _time,
    "encoding": _encoding,
    "front_matter": _front_matter,
    "list": _list,
}
KINDS = tuple(_KINDS)
