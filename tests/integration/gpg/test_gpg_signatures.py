"""What real gpg says about real signatures, good and bad, and what we make of it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from cutter import gpg as gpg_module
from cutter import limits
from cutter.approvals import approver_store
from cutter.approvals.approver_store import NewApprover
from cutter.approvals.policy import ApproverPolicy
from cutter.approvals.statement import render
from cutter.approvals.verdict import ApprovalDocument, Verdict
from cutter.approvals.verify import verify
from cutter.errors import InvalidInput, NotFound, Unavailable
from cutter.gpg import Gpg, find_binary
from cutter.openpgp import Outcome, SignatureEvidence, armor, dearmor
from tests.cases.approval_cases import COUNCIL, World, raw_gpg

BODY = b"a statement\n"


def judged(
    world: World, body: bytes, signature: bytes, *, policy: ApproverPolicy | None = None, ring: Gpg | None = None
) -> Verdict:
    document = ApprovalDocument(kb_id="a/b.md", body=body, signature=signature)
    evidence = (ring or world.ring).verify_detached(body, signature)
    return verify(document, evidence, expected=world.expected(world.request()), policy=policy or world.policy)


def good_body(world: World) -> bytes:
    return render(world.statement(world.request()))


def signed_with(world: World, *words: str, by: str | None = None) -> bytes:
    return raw_gpg(
        world.people, *words, "--armor", "--local-user", by or world.alice, "--detach-sign", "-", stdin=good_body(world)
    )


def test_a_good_signature_is_accepted(sovereigns: World) -> None:
    document = sovereigns.approve(sovereigns.request())
    verdict = judged(sovereigns, document.body, document.signature)
    assert verdict.accepted, verdict.reason
    assert verdict.fingerprint == sovereigns.alice


def test_nothing_that_was_signed_touches_a_disk(
    sovereigns: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature = sovereigns.people.sign_detached(BODY, sovereigns.alice)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nothing here"))
    assert sovereigns.ring.verify_detached(BODY, signature).records[0].outcomes == (Outcome.GOOD,)


def test_a_signature_that_is_too_large_is_not_read(sovereigns: World) -> None:
    signature = sovereigns.people.sign_detached(BODY, sovereigns.alice)
    evidence = sovereigns.ring.verify_detached(BODY, signature + b"\n" * limits.SIGNATURE_BYTES_MAX)
    assert evidence.records == ()
    assert "at most 16384 are read" in str(evidence.unverifiable)


def test_the_evidence_has_all_that_the_judge_needs(sovereigns: World) -> None:
    evidence = sovereigns.ring.verify_detached(BODY, sovereigns.people.sign_detached(BODY, sovereigns.alice))
    (record,) = evidence.records
    assert record.outcomes == (Outcome.GOOD,)
    assert record.fingerprint == record.primary_fingerprint == sovereigns.alice
    assert (record.digest_algorithm, record.signature_class, record.expires) == (10, "00", None)
    assert record.created is not None
    assert abs(record.created - sovereigns.now) < timedelta(minutes=30)


def test_one_changed_byte_is_a_wrong_signature(sovereigns: World) -> None:
    document = sovereigns.approve(sovereigns.request())
    verdict = judged(sovereigns, document.body + b" ", document.signature)
    assert (verdict.step, verdict.code) == (3, "signature_wrong")


def test_a_stranger_s_good_signature_is_not_allowed(sovereigns: World) -> None:
    assert judged(sovereigns, good_body(sovereigns), signed_with(sovereigns, by=sovereigns.mallory)).code == (
        "signer_not_allowed"
    )


def test_a_key_in_the_keyring_is_not_yet_an_approver(sovereigns: World) -> None:
    ring = Gpg(sovereigns.root / "wide-ring")
    for key in (sovereigns.alice, sovereigns.mallory):
        ring.import_key(sovereigns.people.export_key(key))
    signature = signed_with(sovereigns, by=sovereigns.mallory)
    assert ring.verify_detached(good_body(sovereigns), signature).records[0].outcomes == (Outcome.GOOD,)
    verdict = judged(sovereigns, good_body(sovereigns), signature, ring=ring)
    assert (verdict.step, verdict.code) == (3, "signer_not_allowed")


def test_a_sha1_signature_that_gpg_calls_good_is_refused(sovereigns: World) -> None:
    key = rsa_key(sovereigns)
    signature = raw_gpg(
        sovereigns.people, "--digest-algo", "SHA1", "--armor", "--local-user", key, "--detach-sign", "-",
        stdin=good_body(sovereigns),
    )  # fmt: skip
    policy, ring = policy_with(sovereigns, key)
    (record,) = ring.verify_detached(good_body(sovereigns), signature).records
    assert (record.outcomes, record.digest_algorithm) == ((Outcome.GOOD,), 2)
    assert judged(sovereigns, good_body(sovereigns), signature, policy=policy, ring=ring).code == "signature_digest"


def test_a_text_mode_signature_is_refused(sovereigns: World) -> None:
    signature = signed_with(sovereigns, "--textmode")
    (record,) = sovereigns.ring.verify_detached(good_body(sovereigns), signature).records
    assert (record.outcomes, record.signature_class) == ((Outcome.GOOD,), "01")
    assert judged(sovereigns, good_body(sovereigns), signature).code == "signature_class"


def test_two_good_signatures_in_one_file_are_refused(sovereigns: World) -> None:
    files = [signed_with(sovereigns, by=key) for key in (sovereigns.alice, sovereigns.bob)]
    packets = b"".join(_packets(file) for file in files)
    evidence = sovereigns.ring.verify_detached(good_body(sovereigns), armor(packets))
    assert len(evidence.records) == 2
    assert judged(sovereigns, good_body(sovereigns), armor(packets)).code == "signature_count"


def test_clearsigned_and_inline_signed_files_are_refused(sovereigns: World) -> None:
    clear = raw_gpg(sovereigns.people, "--local-user", sovereigns.alice, "--clearsign", stdin=good_body(sovereigns))
    inline = raw_gpg(
        sovereigns.people, "--armor", "--local-user", sovereigns.alice, "--sign", stdin=good_body(sovereigns)
    )  # fmt: skip
    assert judged(sovereigns, good_body(sovereigns), clear).code == "signature_inline"
    assert judged(sovereigns, good_body(sovereigns), inline).code == "signature_inline"
    detached = sovereigns.people.sign_detached(clear, sovereigns.alice)
    assert judged(sovereigns, clear, detached).code == "statement_inline_signature"


def test_an_expired_signature_is_refused(sovereigns: World) -> None:
    faked = ("--faked-system-time", f"{int(sovereigns.now.timestamp()) + 5}", "--default-sig-expire", "seconds=1")
    signature = signed_with(sovereigns, *faked)
    document = ApprovalDocument(kb_id="a/b.md", body=good_body(sovereigns), signature=signature)
    evidence = sovereigns.ring.verify_detached(document.body, signature)
    later = sovereigns.expected(sovereigns.request(), now=sovereigns.now + timedelta(minutes=5))
    verdict = verify(document, evidence, expected=later, policy=sovereigns.policy)
    assert (verdict.step, verdict.code) == (3, "signature_expired")


def test_a_signature_of_tomorrow_is_refused(sovereigns: World) -> None:
    signature = signed_with(sovereigns, "--faked-system-time", f"{int(sovereigns.now.timestamp()) + 86_400}")
    assert judged(sovereigns, good_body(sovereigns), signature).code == "signature_in_future"


def test_an_expired_key_is_refused(sovereigns: World) -> None:
    past = int(sovereigns.now.timestamp()) - 10 * 86_400
    words = ("--passphrase", "", "--pinentry-mode", "loopback", "--faked-system-time", f"{past}")
    raw_gpg(sovereigns.people, *words, "--quick-generate-key", "carol (expired)", "ed25519", "sign", "1d")
    key = newest_key(sovereigns)
    signature = raw_gpg(
        sovereigns.people, "--faked-system-time", f"{past + 60}", "--armor", "--local-user", key, "--detach-sign", "-",
        stdin=good_body(sovereigns),
    )  # fmt: skip
    policy, ring = policy_with(sovereigns, key)
    assert ring.verify_detached(good_body(sovereigns), signature).records[0].outcomes == (Outcome.KEY_EXPIRED,)
    assert judged(sovereigns, good_body(sovereigns), signature, policy=policy, ring=ring).code == "key_expired"


def test_a_revoked_key_is_refused(sovereigns: World) -> None:
    key = sovereigns.people.generate_key("dave (revoked)")
    signature = signed_with(sovereigns, by=key)
    certificate = (sovereigns.root / "p" / "openpgp-revocs.d" / f"{key}.rev").read_bytes()
    raw_gpg(sovereigns.people, "--import", stdin=certificate.replace(b":-----BEGIN", b"-----BEGIN"))
    policy, ring = policy_with(sovereigns, key)
    assert ring.verify_detached(good_body(sovereigns), signature).records[0].outcomes == (Outcome.KEY_REVOKED,)
    assert judged(sovereigns, good_body(sovereigns), signature, policy=policy, ring=ring).code == "key_revoked"


def test_a_signing_subkey_counts_for_its_primary_key(sovereigns: World) -> None:
    key = sovereigns.people.generate_key("erin (subkey)")
    words = ("--passphrase", "", "--pinentry-mode", "loopback", "--quick-add-key", key, "ed25519", "sign", "never")
    raw_gpg(sovereigns.people, *words)
    signature = signed_with(sovereigns, by=key)
    policy, ring = policy_with(sovereigns, key, name="alice")
    (record,) = ring.verify_detached(good_body(sovereigns), signature).records
    assert record.fingerprint != key
    assert record.primary_fingerprint == key
    assert judged(sovereigns, good_body(sovereigns), signature, policy=policy, ring=ring).accepted


@pytest.mark.parametrize("signature", [b"", b"junk", armor(b"\xc2\x05junk!"), armor(b"")])
def test_junk_is_refused_and_not_an_outage(sovereigns: World, signature: bytes) -> None:
    verdict = judged(sovereigns, good_body(sovereigns), signature)
    assert (verdict.accepted, verdict.step) == (False, 3)


def test_a_missing_binary_could_not_verify(sovereigns: World) -> None:
    away = Gpg(sovereigns.ring.home, "/nonexistent/gpg")
    evidence = away.verify_detached(BODY, b"x")
    assert evidence.unverifiable is not None
    with pytest.raises(Unavailable) as caught:
        judged(sovereigns, good_body(sovereigns), signed_with(sovereigns), ring=away)
    assert (caught.value.code, caught.value.what) == ("could_not_verify", "gpg")


@pytest.mark.parametrize("damage", ["emptied", "junk", "folder", "gone"])
def test_a_damaged_keyring_could_not_verify_and_is_not_a_stranger(sovereigns: World, damage: str) -> None:
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    try:
        ring = Gpg(home, required=frozenset((sovereigns.alice, sovereigns.bob)))
        for key in (sovereigns.alice, sovereigns.bob):
            ring.import_key(sovereigns.people.export_key(key))
        signature = signed_with(sovereigns)
        assert judged(sovereigns, good_body(sovereigns), signature, ring=ring).accepted
        keys = home / "pubring.kbx"
        keys.unlink()
        if damage == "emptied":
            keys.write_bytes(b"")
        elif damage == "junk":
            keys.write_bytes(os.urandom(400))
        elif damage == "folder":
            keys.mkdir()
        else:
            shutil.rmtree(home)
        with pytest.raises(Unavailable) as caught:
            judged(sovereigns, good_body(sovereigns), signature, ring=ring)
        assert caught.value.code == "could_not_verify"
    finally:
        shutil.rmtree(home, ignore_errors=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Impostor:
    """A program in gpg's place."""

    path: Path

    def says(self, script: str) -> str:
        self.path.write_text(f"#!/bin/sh\n{script}\n")
        self.path.chmod(stat.S_IRWXU)
        return str(self.path)


@pytest.fixture
def impostor(tmp_path: Path) -> Impostor:
    return Impostor(path=tmp_path / "gpg")


def evidence_from(sovereigns: World, binary: str) -> SignatureEvidence:
    return Gpg(sovereigns.ring.home, binary).verify_detached(BODY, b"x")


def test_a_silent_or_killed_gpg_could_not_verify(sovereigns: World, impostor: Impostor) -> None:
    assert evidence_from(sovereigns, impostor.says("cat >/dev/null; exit 0")).unverifiable
    assert evidence_from(sovereigns, impostor.says("cat >/dev/null; exit 2")).unverifiable
    killed = impostor.says("cat >/dev/null; echo '[GNUPG:] NEWSIG'; kill -9 $$")
    assert "signal 9" in str(evidence_from(sovereigns, killed).unverifiable)


def test_a_gpg_that_hangs_is_bounded(sovereigns: World, impostor: Impostor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpg_module.limits, "GPG_SECONDS", 0.2)
    hanging = impostor.says("exec sleep 30")
    assert "did not answer" in str(evidence_from(sovereigns, hanging).unverifiable)
    with pytest.raises(Unavailable, match="did not answer"):
        Gpg(sovereigns.ring.home, hanging).primary_fingerprints()


def test_words_on_stderr_and_the_exit_code_are_not_evidence(sovereigns: World, impostor: Impostor) -> None:
    binary = impostor.says("cat >/dev/null; echo '[GNUPG:] GOODSIG x' >&2; echo '[GNUPG:] NEWSIG'; exit 0")
    (record,) = evidence_from(sovereigns, binary).records
    assert record.outcomes == ()


def test_options_files_and_the_caller_s_locale_have_no_say(sovereigns: World, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    try:
        (home / "gpg.conf").write_text("this-option-does-not-exist\n")
        monkeypatch.setenv("GNUPGHOME", str(home))
        monkeypatch.setenv("LC_ALL", "vi_VN.UTF-8")
        ring = Gpg(home)
        ring.import_key(sovereigns.people.export_key(sovereigns.alice))
        assert judged(sovereigns, good_body(sovereigns), signed_with(sovereigns), ring=ring).accepted
    finally:
        shutil.rmtree(home, ignore_errors=True)


def test_a_long_home_can_sign_and_verify() -> None:
    root = Path(tempfile.mkdtemp(prefix="cw-"))
    home = root / ("long-" * 25) / ("name-" * 10)
    person = Gpg(home)
    try:
        key = person.generate_key("frank (long home)")
        evidence = person.verify_detached(BODY, person.sign_detached(BODY, key))
        assert evidence.records[0].primary_fingerprint == key
        assert person.primary_fingerprints(secret=True) == (key,)
    finally:
        person.stop_agent()
        shutil.rmtree(root, ignore_errors=True)


def test_signing_with_a_key_that_is_not_there_is_an_outage(sovereigns: World) -> None:
    with pytest.raises(Unavailable) as caught:
        sovereigns.ring.sign_detached(BODY, sovereigns.alice)
    assert caught.value.what == "gpg"


def test_another_key_of_the_same_home_never_signs_in_its_place(sovereigns: World) -> None:
    assert len(sovereigns.people.primary_fingerprints(secret=True)) > 1
    with pytest.raises(Unavailable, match="sign with"):
        sovereigns.people.sign_detached(BODY, "0" * 40)


PINENTRY = """echo OK
while read -r line; do
  case "$line" in GETPIN*) echo "D open sesame"; echo OK;; BYE*) echo OK; exit;; *) echo OK;; esac
done"""


def test_a_person_is_asked_for_the_passphrase_of_their_key(impostor: Impostor) -> None:
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    person = Gpg(home, interactive=True)
    try:
        words = ("--passphrase", "open sesame", "--pinentry-mode", "loopback")
        raw_gpg(person, *words, "--quick-generate-key", "ivan (passphrase)", "ed25519", "sign")
        person.stop_agent()
        (home / "gpg-agent.conf").write_text(f"pinentry-program {impostor.says(PINENTRY)}\n")
        (key,) = person.primary_fingerprints(secret=True)
        evidence = person.verify_detached(BODY, person.sign_detached(BODY, key))
        assert evidence.records[0].outcomes == (Outcome.GOOD,)
        impostor.path.unlink()
        person.stop_agent()
        with pytest.raises(Unavailable, match="sign with"):
            person.sign_detached(BODY, key)
    finally:
        person.stop_agent()
        shutil.rmtree(home, ignore_errors=True)


def test_a_passphrase_without_a_terminal_names_the_setting() -> None:
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    person = Gpg(home)
    try:
        words = ("--passphrase", "open sesame", "--pinentry-mode", "loopback")
        raw_gpg(person, *words, "--quick-generate-key", "judy (passphrase)", "ed25519", "sign")
        person.stop_agent()
        (key,) = person.primary_fingerprints(secret=True)
        with pytest.raises(Unavailable, match=r"`export GPG_TTY=\$\(tty\)`"):
            person.sign_detached(BODY, key)
    finally:
        person.stop_agent()
        shutil.rmtree(home, ignore_errors=True)


def test_an_expired_signing_subkey_is_named_with_its_day() -> None:
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    person = Gpg(home)
    try:
        words = ("--batch", "--passphrase", "", "--faked-system-time", "20250101T000000!")
        raw_gpg(person, *words, "--quick-generate-key", "mallory (subkey)", "ed25519", "cert", "never")
        (key,) = person.primary_fingerprints(secret=True)
        raw_gpg(person, *words, "--quick-add-key", key, "ed25519", "sign", "2025-02-03")
        with pytest.raises(Unavailable, match=r"the signing key expired on 2025-02-03; docs/guides/keys\.md"):
            person.sign_detached(BODY, key)
    finally:
        person.stop_agent()
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.parametrize("name", ["alice", "A" * 16, "a" * 40, "--version", ""])
def test_a_key_is_named_by_its_full_fingerprint(sovereigns: World, name: str) -> None:
    with pytest.raises(InvalidInput):
        sovereigns.people.sign_detached(BODY, name)
    with pytest.raises(InvalidInput):
        sovereigns.people.export_key(name)


def test_keys_that_do_not_exist_are_not_exported(sovereigns: World) -> None:
    with pytest.raises(NotFound):
        sovereigns.people.export_key("0" * 40)


def test_what_is_no_key_is_not_imported(sovereigns: World) -> None:
    for data in (b"", b"hello", bytes(300_000)):
        with pytest.raises(InvalidInput):
            sovereigns.ring.import_key(data)


def test_an_unarmored_signature_is_its_packets(sovereigns: World) -> None:
    binary = sovereigns.people.sign_detached(BODY, sovereigns.alice, armor=False)
    assert binary[0] & 0x80
    assert sovereigns.ring.verify_detached(BODY, armor(binary)).records[0].outcomes == (Outcome.GOOD,)


def test_the_version_is_the_binary_s_own(sovereigns: World) -> None:
    first = subprocess.run([find_binary(), "--version"], capture_output=True, check=True, text=True).stdout.split("\n")[
        0
    ]
    assert first.endswith(".".join(map(str, sovereigns.people.version())))


def test_a_key_with_an_end_says_so(sovereigns: World) -> None:
    key = sovereigns.people.generate_key("grace (two years)", expire="2y")
    listed = raw_gpg(sovereigns.people, "--with-colons", "--list-keys", key).decode()
    assert listed.split("pub:")[1].split(":")[5] != ""


def rsa_key(world: World) -> str:
    words = ("--passphrase", "", "--pinentry-mode", "loopback", "--quick-generate-key", "rsa (test)", "rsa2048", "sign")
    raw_gpg(world.people, *words)
    return newest_key(world)


def newest_key(world: World) -> str:
    return world.people.primary_fingerprints()[-1]


def policy_with(world: World, key: str, *, name: str = "alice") -> tuple[ApproverPolicy, Gpg]:
    folder = Path(tempfile.mkdtemp(prefix="a-", dir=world.root))
    approver = NewApprover(name=name, public_key=world.people.export_key(key), groups=(COUNCIL,))
    policy = approver_store.init(folder, approvers=[approver], deployment_id=world.policy.deployment_id)
    return approver_store.load_current(folder, policy.sha256)


def _packets(file: bytes) -> bytes:
    packets = dearmor(file)
    assert isinstance(packets, bytes)
    return packets


def test_public_keys_need_no_agent(sovereigns: World) -> None:
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    try:
        ring = Gpg(home)
        ring.import_key(sovereigns.people.export_key(sovereigns.alice))
        assert judged(sovereigns, good_body(sovereigns), signed_with(sovereigns), ring=ring).accepted
        assert not list(home.glob("S.gpg-agent*"))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def test_an_encryption_key_is_added_also_when_no_agent_runs_yet(sovereigns: World) -> None:
    key = sovereigns.people.generate_key("heidi (encryption)")
    sovereigns.people.stop_agent()
    sovereigns.people.add_encryption_key(key)
    assert b":e:" in raw_gpg(sovereigns.people, "--with-colons", "--list-keys", key)
    with pytest.raises(Unavailable):
        sovereigns.people.add_encryption_key("0" * 40)


def test_without_gpg_on_the_path_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable) as caught:
        find_binary()
    assert "install" in str(caught.value)


def test_a_program_that_is_no_gpg_has_no_version(sovereigns: World, impostor: Impostor) -> None:
    with pytest.raises(Unavailable):
        Gpg(sovereigns.ring.home, impostor.says("echo hello")).version()


def test_only_a_person_s_gpg_sees_the_person_s_terminal(
    sovereigns: World, impostor: Impostor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPG_TTY", "/dev/pts/99")
    program = impostor.says('echo "cfg:version:2.2.${#GPG_TTY}"')
    assert Gpg(sovereigns.ring.home, program, interactive=True).version() == (2, 2, 11)
    assert Gpg(sovereigns.ring.home, program).version() == (2, 2, 0)


def test_a_key_file_is_bounded(sovereigns: World) -> None:
    key = sovereigns.people.export_key(sovereigns.alice)
    with pytest.raises(InvalidInput) as caught:
        sovereigns.ring.import_key(key + b"\n" * 300_000)
    assert "at most" in str(caught.value)


@dataclass(frozen=True, slots=True)
class CountedGpg:
    """The real gpg, which notes each call."""

    program: str
    calls: Path

    def since(self, before: int = 0) -> list[str]:
        return self.calls.read_text(encoding="utf-8").splitlines()[before:]


@pytest.fixture
def counted(tmp_path: Path) -> CountedGpg:
    program, calls = tmp_path / "gpg", tmp_path / "calls"
    program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$*" >> {calls}\nexec {find_binary()} "$@"\n', encoding="ascii")
    program.chmod(0o700)
    calls.touch()
    return CountedGpg(str(program), calls)


def test_a_second_signature_is_one_process(sovereigns: World, counted: CountedGpg) -> None:
    gpg = Gpg(sovereigns.people.home, counted.program)
    gpg.sign_detached(BODY, sovereigns.alice)
    before = len(counted.since())
    signature = gpg.sign_detached(BODY, sovereigns.alice)
    assert len(counted.since(before)) == 1
    assert sovereigns.ring.verify_detached(BODY, signature).records[0].outcomes == (Outcome.GOOD,)


def test_keys_are_listed_again_only_after_they_changed(sovereigns: World, counted: CountedGpg) -> None:
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    try:
        ring = Gpg(home, counted.program)
        assert ring.primary_fingerprints() == ()
        ring.import_key(sovereigns.people.export_key(sovereigns.alice))
        assert ring.primary_fingerprints() == (sovereigns.alice,)
        before = len(counted.since())
        assert ring.primary_fingerprints() == (sovereigns.alice,)
        assert counted.since(before) == []
        ring.import_key(sovereigns.people.export_key(sovereigns.bob))
        assert set(ring.primary_fingerprints()) == {sovereigns.alice, sovereigns.bob}
        raw_gpg(ring, "--yes", "--delete-keys", sovereigns.alice)
        assert ring.primary_fingerprints() == (sovereigns.bob,)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def test_a_private_key_that_is_gone_is_not_listed() -> None:
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    gpg = Gpg(home)
    try:
        key = gpg.generate_key("ivan")
        assert gpg.primary_fingerprints(secret=True) == (key,)
        for file in (home / "private-keys-v1.d").iterdir():
            file.unlink()
        assert gpg.primary_fingerprints(secret=True) == ()
    finally:
        gpg.stop_agent()
        shutil.rmtree(home, ignore_errors=True)


def test_a_home_that_is_gone_is_unavailable_also_after_it_was_used(sovereigns: World) -> None:
    home = Path(tempfile.mkdtemp(prefix="cw-"))
    ring = Gpg(home)
    ring.import_key(sovereigns.people.export_key(sovereigns.alice))
    shutil.rmtree(home)
    with pytest.raises(Unavailable, match="its home is missing"):
        ring.primary_fingerprints()
