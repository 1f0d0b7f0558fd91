"""`cutter verify` knows a file by its content, and takes only the options of its kind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cutter.evidence import audit
from cutter.lifecycle.events import FIELDS
from starter import cli
from starter.commands import verify
from starter.console.terminal import ExitCode

EVENT = {"chain": "c", "seq": 1, "kind": "k", "body": "{}", "prev_hash": "0" * 64, "hash": "1" * 64}
TRANSITION = dict.fromkeys(FIELDS, "x")


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (audit.export([EVENT]), verify.EVENTS),
        (b"\xff\n" + audit.export([EVENT]), verify.EVENTS),
        (json.dumps(TRANSITION).encode(), verify.TRANSITIONS),
        (b"not a line\n" + json.dumps(TRANSITION).encode(), verify.TRANSITIONS),
        (b"x" * 257 + b"ustar", verify.BUNDLE),
        (b'{\n "record": {', verify.LAW),
    ],
)
def test_a_file_is_known_by_its_content_even_if_a_part_is_damaged(tmp_path: Path, data: bytes, kind: str) -> None:
    file = tmp_path / "any"
    file.write_bytes(data)
    assert verify.kind_of(file) == kind


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--sha256", "0" * 64), "--sha256: FILE is an audit export, which takes no such option"),
        (("--country", "vn"), "--country: FILE is an audit export, which takes no such option"),
        (("--head", "ABC"), "--head ABC: 64 lower-case hex characters"),
        (("FILE",), "check one file at a time"),
    ],
)
def test_what_does_not_fit_the_kind_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    file = tmp_path / "audit.jsonl"
    file.write_bytes(audit.export([EVENT]))
    code = cli.run(["verify", str(file), *(word.replace("FILE", str(file)) for word in words), "--json"])
    assert code == ExitCode.USAGE
    assert message.replace("FILE", str(file)) in json.loads(capsys.readouterr().out)["message"]
