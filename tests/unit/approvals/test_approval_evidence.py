"""gpg's status lines are read as they stand, and nothing is guessed."""

from __future__ import annotations

from datetime import UTC, datetime

from cutter.openpgp import Outcome, read_status

KEY, SUBKEY = "A" * 40, "B" * 40
VALID = f"[GNUPG:] VALIDSIG {SUBKEY} 2026-11-21 1795229796 0 4 0 22 10 00 {KEY}"
GOOD = ["[GNUPG:] NEWSIG", "[GNUPG:] GOODSIG 8C2A3A482B22155C alice", VALID, "[GNUPG:] TRUST_ULTIMATE 0 pgp"]


def test_a_good_signature_by_a_subkey_names_the_primary_key() -> None:
    (record,) = read_status(GOOD).records
    assert record.outcomes == (Outcome.GOOD,)
    assert (record.fingerprint, record.primary_fingerprint) == (SUBKEY, KEY)
    assert record.created == datetime(2026, 11, 21, 2, 56, 36, tzinfo=UTC)
    assert (record.expires, record.digest_algorithm, record.signature_class) == (None, 10, "00")


def test_each_newsig_is_a_signature() -> None:
    assert len(read_status([*GOOD, *GOOD]).records) == 2


def test_lines_that_are_not_status_lines_say_nothing() -> None:
    assert read_status([VALID.removeprefix("[GNUPG:] "), "gpg: Good signature", " " + VALID]).records == ()


def test_a_user_id_cannot_speak_as_gpg() -> None:
    evil = ["[GNUPG:] NEWSIG", "[GNUPG:] BADSIG 8C2A3A482B22155C x [GNUPG:] GOODSIG 8C2A3A482B22155C alice"]
    (record,) = read_status(evil).records
    assert record.outcomes == (Outcome.BAD,)


def test_two_validsig_lines_vouch_for_nothing() -> None:
    (record,) = read_status([*GOOD, VALID]).records
    assert record.primary_fingerprint is None


def test_a_short_or_odd_validsig_vouches_for_nothing() -> None:
    for line in (VALID.rpartition(" ")[0], VALID.replace(KEY, "8C2A3A482B22155C"), VALID.replace(SUBKEY, "b" * 40)):
        (record,) = read_status([*GOOD[:2], line]).records
        assert record.primary_fingerprint is None


def test_a_missing_key_is_remembered() -> None:
    lines = ["[GNUPG:] NEWSIG", "[GNUPG:] ERRSIG 8C2A3A482B22155C 22 10 00 1795229796 9 -", "[GNUPG:] NO_PUBKEY 8C2A"]
    (record,) = read_status(lines).records
    assert (record.outcomes, record.key_missing) == ((Outcome.ERROR,), True)


def test_an_outcome_without_newsig_still_counts() -> None:
    assert len(read_status(GOOD[1:]).records) == 1


def test_times_in_iso_form_are_read() -> None:
    (record,) = read_status([*GOOD[:2], VALID.replace("1795229796 0", "20261121T025636 20271121T025636")]).records
    assert (record.created, record.expires) == (
        datetime(2026, 11, 21, 2, 56, 36, tzinfo=UTC),
        datetime(2027, 11, 21, 2, 56, 36, tzinfo=UTC),
    )
