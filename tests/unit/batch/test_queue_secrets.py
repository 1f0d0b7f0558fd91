"""A queue carries no secret, connection string or signature material, wherever it is put and however it is written."""

from __future__ import annotations

import base64
import hashlib

import pytest

from cutter.batch.queue import load_queue
from cutter.batch.queue_file import sensitive_lines
from tests.unit.batch.queues import GOOD, changed, refused

WORD = "hunter2"
BASE64 = base64.b64encode(hashlib.sha512(b"seed").digest()).decode()[:64]

SECRETS = [
    f"postgresql://cutter:{WORD}@db.example/cutter",
    f"https://user:{WORD}@example.org/law.md",
    f"https://user:p/{WORD}@example.org/law.md",
    f"https://{WORD}{WORD}@example.org/law.md",
    "postgres://db.example/cutter",
    "postgresql+psycopg://db.example/cutter",
    "jdbc:oracle:thin:@db.example:1521/law",
    "mongodb+srv://cluster.example/law",
    "sqlite:///srv/law.db",
    f"host=db dbname=cutter password={WORD}",
    "host=db dbname=cutter",
    f"https://example.org/law?access_token={WORD}",
    f"Authorization: {WORD}",
    f"PASSWORD = {WORD}",
    f"client_secret: {WORD}",
    f"api-key: {WORD}",
    f"db_password_file: {WORD}",
    "Bearer abcdefghijklmnop0123",
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "-----BEGIN PGP SIGNATURE-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----",
    "-----END PGP SIGNATURE-----",
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "ghp_" + "a1B2" * 9,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0",
    BASE64,
]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("place", ["comment", "value", "quoted", "source", "key", "item", "escaped"])
def test_a_secret_is_refused_in_every_place_and_never_shown(secret: str, place: str) -> None:
    """Seed 001 §2."""
    escaped = "".join(f"\\x{ord(letter):02x}" for letter in secret)
    text = {
        "comment": changed("created_by: ops@example", f"created_by: ops@example\n# {secret}"),
        "value": changed("created_by: ops@example", f"\ncreated_by: {secret}"),
        "quoted": changed("created_by: ops@example", f"\ncreated_by: '{secret}'"),
        "source": changed("created_by: ops@example\n", "\n\n").replace("source_uri: null", f"source_uri: {secret}"),
        "key": changed("created_by: ops@example", f"\n'{secret}': x"),
        "item": GOOD + f"  - '{secret}'\n",
        "escaped": changed("created_by: ops@example", f'\ncreated_by: "{escaped}"'),
    }[place]
    line = {"source": 10, "item": 17}.get(place, 4)
    refusal = refused(text)
    assert any(problem.line == line and "must not be in a queue" in problem.text for problem in refusal.problems), (
        refusal
    )
    for part in (secret, WORD, secret[:24]):
        assert part not in str(refusal)


def test_a_key_that_names_a_secret_is_enough_even_when_it_is_escaped() -> None:
    assert "must not be" in refused(changed("tenant: north", '"p\\u0061ssword":\n      x')).problems[0].text
    assert "must not be" in refused(changed("tenant: north", "? secret\n    : x")).problems[0].text


@pytest.mark.parametrize("line", ["ｐａｓｓｗｏｒｄ: x1", "pass\u200bword: x1", "to\u00adken=x1"])
def test_letters_that_look_the_same_or_are_not_seen_hide_nothing(line: str) -> None:
    assert "must not be" in refused(GOOD + f"# {line}\n").problems[0].text


def test_a_block_of_key_material_is_found_on_each_of_its_lines() -> None:
    block = f"# -----BEGIN PGP MESSAGE-----\n#\n# {BASE64}\n# {BASE64[::-1]}\n# =abcd\n# -----END PGP MESSAGE-----\n"
    assert [problem.line for problem in refused(GOOD + block).problems] == [17, 19, 20, 22]


def test_a_value_that_is_in_a_wrong_place_is_not_shown() -> None:
    text = changed("priority: 7", f"priority: {WORD}").replace("tenant: north", f"tenant: {WORD} {WORD}")
    assert WORD not in str(refused(text + f"    {WORD}{WORD}!: x\n"))


@pytest.mark.parametrize(
    "line",
    [
        "# No secrets, no DSNs, no signature material: see the handbook",
        "# password policy of 2026",
        "# Tokens (§ 3) are cut like every other law",
        "source_uri: https://example.org:8443/eli/reg/2016/679/oj#Art_5",
        "source_uri: file:///srv/laws/ICX-LAW-2026-001.md",
        "source_uri: https://example.org/" + "a-law-with-a-very-long-name-2026/" * 3,
        "document_id: " + "A" * 64,
        "# sha256 " + hashlib.sha256(b"x").hexdigest(),
        "# ----------------------------------------",
        "# Luật số 45/2019/QH14, Điều 1: Phạm vi điều chỉnh",
        "",
    ],
)
def test_what_is_no_secret_stays(line: str) -> None:
    assert sensitive_lines(line) == []


def test_a_queue_with_such_lines_is_read() -> None:
    assert load_queue((GOOD + "# No secrets, no DSNs, no signature material\n").encode()).items
