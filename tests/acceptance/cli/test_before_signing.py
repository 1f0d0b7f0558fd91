"""What a person is told before their key is used: who may sign, with which option, and what to type instead."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest

from tests.acceptance.cli.conftest import Cutter
from tests.support.stack import DOCUMENT, Stack

CUT = "SG_cut_authz"


async def test_the_starter_is_refused_before_signing_and_sees_it_in_the_inbox(stack: Stack, cutter: Cutter) -> None:
    async with stack.workers():
        assert (await cutter("run", DOCUMENT, "--wait", LOGNAME="alice")).code == 3
        before = documents(stack)
        for order in (
            ("approve", DOCUMENT),
            ("reject", DOCUMENT, "--reason", "x"),
            ("void", DOCUMENT, "--reason", "x"),
        ):
            answer = await cutter.signed(*order)
            assert (answer.code, answer.json["code"]) == (4, "may_not_sign")
            assert "alice started this run" in answer.err
            assert "ask bob" in answer.err
        assert documents(stack) == before, "nothing was signed"
        marked = {
            who: (await cutter("inbox", "--approver", who, "--json")).json["waiting"][0]["you_may_not"]
            for who in ("alice", "bob")
        }
        assert marked == {"alice": "alice started this run; another person must decide", "bob": None}
        assert "alice started this run" in (await cutter("inbox", "--approver", "alice")).out
        await cutter("stop", DOCUMENT, "--reason", "x")
        run_id = (await cutter("status", DOCUMENT, "--json")).json["run_id"]
        await stack.run_of(run_id).until_shown("stopped_stop")
        assert "alice started this run" in (await cutter("inbox", "--approver", "alice")).out
        resumed = await cutter.signed("approve", DOCUMENT, "--decision", "resume", "--reason", "x", who="bob")
        assert resumed.json["status"] == "accepted"
        await stack.run_of(run_id).until_requested(CUT)
        home = {"GNUPGHOME": str(stack.kit.alice.home)}
        assert "not by you" not in (await cutter("inbox", **home)).out, "two approvers' keys are nobody's"
        assert (await cutter.signed("approve", DOCUMENT, who="bob")).json["status"] == "accepted"


async def test_the_second_approval_waits_until_the_run_asks_for_it(stack: Stack, cutter: Cutter) -> None:
    """The README signs twice in a row."""
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        first, second = await cutter.signed("approve", run.run_id), await cutter.signed("approve", run.run_id)
        assert (first.json["status"], second.json["status"]) == ("accepted", "accepted"), second.err
        assert first.json["next"].startswith(("cutter status", "cutter approve"))
        assert (await run.result()).state == "closeout_reported"


def documents(stack: Stack) -> set[Path]:
    return set((stack.settings.state / "kb").rglob("*.asc"))


async def test_an_option_that_fits_nobody_is_named_with_what_to_type(
    stack: Stack, cutter: Cutter, tmp_path: Path
) -> None:
    async with stack.workers():
        run = await stack.start()
        await run.until_requested(CUT)
        people, empty = str(stack.kit.alice.home), tmp_path / "empty"
        empty.mkdir(mode=0o700)
        key = stack.kit.mallory.fingerprint
        for options, code, words in (
            (("--approver", "eve", "--gpg-home", people), 4, ("--approver eve", "alice (", "bob (", "cutter doctor")),
            (("--key", key, "--gpg-home", people), 4, (f"--key {key}", "alice (", "cutter doctor")),
            (("--gpg-home", str(tmp_path / "none")), 2, ("--gpg-home", "no such folder")),
            (("--gpg-home", str(empty)), 4, ("0 of your keys", str(empty), "--gpg-home", "--list-secret-keys")),
            (("--gpg-home", people), 4, ("2 of your keys", "`--approver alice`", "`--approver bob`")),
        ):
            answer = await cutter("approve", DOCUMENT, "--yes", *options)
            assert answer.code == code, answer
            assert all(word in answer.err for word in words), (options, answer.err)
            assert len(answer.err.strip().splitlines()) == 1
        assert not (tmp_path / "none").exists()
        refusal = await cutter("inbox", "--approver", "eve")
        assert (refusal.code, "alice (" in refusal.err) == (4, True)


@pytest.mark.parametrize("who", ["mallory", "alice"])
async def test_a_signature_of_an_epoch_that_would_not_count_is_not_made(
    stack: Stack, cutter: Cutter, tmp_path: Path, who: str
) -> None:
    kit = stack.kit
    file = tmp_path / "m.asc"
    file.write_bytes(kit.people.export_key(kit.mallory.fingerprint))
    assert (await cutter("approvers", "propose", "--approver", f"mallory={file}")).code == 0
    signer = getattr(kit, who)
    answer = await cutter(
        "approvers", "sign", "2", "--key", signer.fingerprint, "--gpg-home", str(kit.people.home), "--json", "--yes"
    )
    signatures = list(stack.settings.approvers.glob("epoch-0002.yaml.*.asc"))
    if who == "mallory":
        assert (answer.code, signatures) == (4, [])
        assert "would not count" in answer.err
        assert "epoch 1 names alice (" in answer.err
    else:
        assert (answer.json["approver"], answer.json["missing"]) == ("alice", None)
        assert answer.json["next"] == "cutter approvers install 2"
        assert len(signatures) == 1
        assert (await cutter("approvers", "install", "2")).code == 0
        again = await cutter("approvers", "sign", "2", "--key", signer.fingerprint)
        assert (again.code, "nothing to sign" in again.err) == (4, True)


async def test_an_approver_who_would_approve_their_own_runs_is_told_when_they_enter_the_policy(
    stack: Stack, cutter: Cutter, tmp_path: Path
) -> None:
    file = tmp_path / "m.asc"
    file.write_bytes(stack.kit.people.export_key(stack.kit.mallory.fingerprint))
    me = getpass.getuser()
    answer = await cutter("approvers", "propose", "--approver", f"{me}={file}")
    assert f"{me} may not approve runs that {me} starts" in answer.err
    wrong = await cutter("approvers", "propose", "--approver", "an=/no/such.asc")
    assert (wrong.code, "there is no file /no/such.asc" in wrong.err) == (2, True)
    assert "gpg --armor --export" in wrong.err
