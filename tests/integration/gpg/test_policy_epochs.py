"""The folder of epochs: believed only by the digests that stand elsewhere, and followed only by signed successors."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from cutter.approvals import approver_store
from cutter.approvals.approver_store import NewApprover
from cutter.approvals.policy import ApproverPolicy, Tier
from cutter.errors import Conflict, CutterError, InvalidInput, NotFound, Refused, Unavailable
from tests.cases.approval_cases import COUNCIL, World, raw_gpg


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="cw-"))
    yield made / "approvers"
    shutil.rmtree(made)


def approver(world: World, name: str, key: str) -> NewApprover:
    return NewApprover(name=name, public_key=world.people.export_key(key), groups=(COUNCIL,))


def first(world: World, folder: Path, *, succession: int = 1) -> ApproverPolicy:
    people = [approver(world, "alice", world.alice), approver(world, "bob", world.bob)]
    return approver_store.init(folder, approvers=people, succession=succession)


def sign(world: World, folder: Path, epoch: ApproverPolicy, key: str) -> None:
    approver_store.add_signature(folder, epoch, key, world.people.sign_detached(epoch.data, key))


def test_epoch_one_is_loaded_by_its_digest_with_its_own_keyring(sovereigns: World, folder: Path) -> None:
    made = first(sovereigns, folder)
    policy, ring = approver_store.load_current(folder, made.sha256)
    assert policy == made
    assert set(ring.primary_fingerprints()) == {sovereigns.alice, sovereigns.bob}
    assert ring.home is not None
    assert not list(ring.home.glob("private-keys-v1.d/*"))
    assert approver_store.load_current(folder, made.sha256)[1] is ring


def test_each_deployment_has_an_id_of_its_own(sovereigns: World, folder: Path) -> None:
    assert first(sovereigns, folder / "a").deployment_id != first(sovereigns, folder / "b").deployment_id


def test_an_epoch_is_never_written_over(sovereigns: World, folder: Path) -> None:
    made = first(sovereigns, folder)
    with pytest.raises(Conflict):
        approver_store.init(folder, approvers=[approver(sovereigns, "mallory", sovereigns.mallory)])
    assert approver_store.read_epoch(folder, 1) == made


def test_an_empty_policy_is_legal_and_lets_nobody_sign(folder: Path) -> None:
    made = approver_store.init(folder, approvers=[])
    policy, ring = approver_store.load_current(folder, made.sha256)
    assert policy.approvers == ()
    assert ring.primary_fingerprints() == ()


def test_a_changed_file_could_not_verify(sovereigns: World, folder: Path) -> None:
    made = first(sovereigns, folder)
    approver_store.load_current(folder, made.sha256)
    path = folder / "epoch-0001.yaml"
    path.write_bytes(path.read_bytes().replace(sovereigns.bob.encode(), sovereigns.mallory.encode()))
    with pytest.raises(Unavailable) as caught:
        approver_store.load_current(folder, made.sha256)
    assert caught.value.what == "approvers"
    path.unlink()
    with pytest.raises(Unavailable):
        approver_store.load_current(folder, made.sha256)


@pytest.mark.parametrize("damage", ["missing", "changed", "unreadable"])
def test_a_key_that_is_not_the_epoch_s_could_not_verify(sovereigns: World, folder: Path, damage: str) -> None:
    made = first(sovereigns, folder)
    path = next(folder.glob(f"keys/{sovereigns.bob}-*.asc"))
    path.unlink()
    if damage == "changed":
        path.write_bytes(sovereigns.people.export_key(sovereigns.mallory))
    elif damage == "unreadable":
        path.mkdir()
    with pytest.raises(Unavailable) as caught:
        approver_store.load_current(folder, made.sha256)
    assert caught.value.what == "approvers"


def test_a_stray_key_in_the_folder_is_not_taken_in(sovereigns: World, folder: Path) -> None:
    made = first(sovereigns, folder)
    (folder / "keys" / "mallory.asc").write_bytes(sovereigns.people.export_key(sovereigns.mallory))
    assert sovereigns.mallory not in approver_store.load_current(folder, made.sha256)[1].primary_fingerprints()


def test_a_keyring_that_was_tidied_away_is_made_again(sovereigns: World, folder: Path) -> None:
    made = first(sovereigns, folder)
    ring = approver_store.load_current(folder, made.sha256)[1]
    assert ring.home is not None
    shutil.rmtree(ring.home)
    again = approver_store.load_current(folder, made.sha256)[1]
    assert again is not ring
    assert set(again.primary_fingerprints()) == {sovereigns.alice, sovereigns.bob}


def test_a_key_file_that_is_not_the_named_key_s_could_not_verify(sovereigns: World, folder: Path) -> None:
    made = first(sovereigns, folder)
    data = made.data.replace(sovereigns.bob.encode(), sovereigns.mallory.encode())
    (folder / "epoch-0001.yaml").write_bytes(data)
    with pytest.raises(Unavailable) as caught:
        approver_store.load_current(folder, approver_store.read_epoch(folder, 1).sha256)
    assert caught.value.what == "approvers"


def test_a_succession_that_gpg_cannot_judge_is_an_outage(sovereigns: World, folder: Path) -> None:
    previous = first(sovereigns, folder)
    following = approver_store.propose(folder, previous, approvers=list(previous.approvers[:1]))
    sign(sovereigns, folder, following, sovereigns.alice)
    ring = approver_store.load_current(folder, previous.sha256)[1]
    assert ring.home is not None
    (ring.home / "pubring.kbx").write_bytes(b"damaged")
    with pytest.raises(Unavailable) as caught:
        approver_store.check_succession(folder, previous, following, now=sovereigns.now)
    assert caught.value.what == "gpg"


def test_a_gpg_below_the_floor_could_not_verify(sovereigns: World, folder: Path) -> None:
    made = approver_store.init(
        folder, approvers=[approver(sovereigns, "alice", sovereigns.alice)], gpg_version_floor=(99, 0)
    )
    with pytest.raises(Unavailable) as caught:
        approver_store.load_current(folder, made.sha256)
    assert caught.value.what == "gpg"


def test_a_binary_that_is_gone_could_not_verify(sovereigns: World, folder: Path) -> None:
    made = first(sovereigns, folder)
    data = made.data.replace(made.gpg_binary.encode(), b"/nonexistent/gpg")
    (folder / "epoch-0001.yaml").write_bytes(data)
    with pytest.raises(Unavailable) as caught:
        approver_store.load_current(folder, approver_store.read_epoch(folder, 1).sha256)
    assert caught.value.what == "gpg"


def test_a_file_with_two_keys_is_not_one_approver(sovereigns: World, folder: Path) -> None:
    both = raw_gpg(sovereigns.people, "--armor", "--export", sovereigns.alice, sovereigns.bob)
    with pytest.raises(InvalidInput):
        approver_store.init(folder, approvers=[NewApprover(name="two", public_key=both)])


def test_one_key_under_two_names_is_refused(sovereigns: World, folder: Path) -> None:
    twice = [approver(sovereigns, name, sovereigns.alice) for name in ("alice", "alias")]
    with pytest.raises(InvalidInput):
        approver_store.init(folder, approvers=twice)


def test_the_next_epoch_needs_a_signature_of_the_previous_one_s_approver(sovereigns: World, folder: Path) -> None:
    previous = first(sovereigns, folder)
    following = approver_store.propose(
        folder, previous, approvers=[approver(sovereigns, "mallory", sovereigns.mallory)]
    )
    assert (following.number, following.previous_sha256) == (2, previous.sha256)
    assert following.deployment_id == previous.deployment_id
    with pytest.raises(Refused) as caught:
        approver_store.check_succession(folder, previous, following, now=sovereigns.now)
    assert caught.value.code == "epoch_signatures"
    sign(sovereigns, folder, following, sovereigns.mallory)
    with pytest.raises(Refused):
        approver_store.check_succession(folder, previous, following, now=sovereigns.now)
    sign(sovereigns, folder, following, sovereigns.alice)
    approver_store.check_succession(folder, previous, following, now=sovereigns.now)
    assert approver_store.load_current(folder, following.sha256)[0].approvers[0].name == "mallory"
    assert approver_store.load_current(folder, previous.sha256)[0] == previous


def test_another_proposal_replaces_a_wrong_one_with_its_signatures(sovereigns: World, folder: Path) -> None:
    previous = first(sovereigns, folder)
    wrong = approver_store.propose(folder, previous, approvers=[approver(sovereigns, "mallory", sovereigns.mallory)])
    sign(sovereigns, folder, wrong, sovereigns.alice)
    right = approver_store.propose(folder, previous, approvers=[approver(sovereigns, "alice", sovereigns.alice)])
    assert (right.number, approver_store.read_epoch(folder, 2)) == (2, right)
    with pytest.raises(Refused) as caught:
        approver_store.check_succession(folder, previous, right, now=sovereigns.now)
    assert caught.value.code == "epoch_signatures"
    sign(sovereigns, folder, right, sovereigns.alice)
    approver_store.check_succession(folder, previous, right, now=sovereigns.now)
    same = approver_store.propose(folder, previous, approvers=[approver(sovereigns, "alice", sovereigns.alice)])
    approver_store.check_succession(folder, previous, same, now=sovereigns.now)


def test_a_threshold_of_two_counts_people_and_not_files(sovereigns: World, folder: Path) -> None:
    previous = first(sovereigns, folder, succession=2)
    following = approver_store.propose(
        folder, previous, approvers=list(previous.approvers), gates=approver_store.default_rules(Tier.HIGH)
    )
    sign(sovereigns, folder, following, sovereigns.alice)
    again = sovereigns.people.sign_detached(following.data, sovereigns.alice)
    approver_store.add_signature(folder, following, "again", again)
    with pytest.raises(Refused):
        approver_store.check_succession(folder, previous, following, now=sovereigns.now)
    sign(sovereigns, folder, following, sovereigns.bob)
    approver_store.check_succession(folder, previous, following, now=sovereigns.now)


def test_a_signature_over_other_bytes_or_by_weak_means_does_not_count(sovereigns: World, folder: Path) -> None:
    previous = first(sovereigns, folder)
    following = approver_store.propose(folder, previous, approvers=list(previous.approvers[:1]))
    approver_store.add_signature(
        folder, following, "other", sovereigns.people.sign_detached(previous.data, sovereigns.alice)
    )
    text = raw_gpg(
        sovereigns.people, "--textmode", "--armor", "--local-user", sovereigns.alice, "--detach-sign", "-",
        stdin=following.data,
    )  # fmt: skip
    approver_store.add_signature(folder, following, "text", text)
    approver_store.add_signature(folder, following, "junk", b"junk")
    with pytest.raises(Refused):
        approver_store.check_succession(folder, previous, following, now=sovereigns.now)


def test_an_approver_whose_time_is_over_cannot_sign_the_next_epoch(sovereigns: World, folder: Path) -> None:
    gone = replace(approver(sovereigns, "alice", sovereigns.alice), not_after=sovereigns.now + timedelta(hours=1))
    previous = approver_store.init(folder, approvers=[gone])
    following = approver_store.propose(folder, previous, approvers=list(previous.approvers), succession=2)
    sign(sovereigns, folder, following, sovereigns.alice)
    approver_store.check_succession(folder, previous, following, now=sovereigns.now)
    with pytest.raises(Refused):
        approver_store.check_succession(folder, previous, following, now=sovereigns.now + timedelta(hours=2))


@pytest.mark.parametrize("change", [b"number: 3", b"deployment_id: 00000000-0000-4000-8000-000000000000"])
def test_an_epoch_of_another_order_or_deployment_does_not_follow(
    sovereigns: World, folder: Path, change: bytes
) -> None:
    previous = first(sovereigns, folder)
    following = approver_store.propose(folder, previous, approvers=list(previous.approvers))
    field = change.split(b":")[0] + b":"
    lines = [change if line.startswith(field) else line for line in following.data.split(b"\n")]
    other = approver_store.parse_policy(b"\n".join(lines))
    (folder / f"epoch-{other.number:04d}.yaml").write_bytes(other.data)
    sign(sovereigns, folder, other, sovereigns.alice)
    with pytest.raises(Refused) as caught:
        approver_store.check_succession(folder, previous, other, now=sovereigns.now)
    assert caught.value.code in ("epoch_order", "epoch_deployment")


def test_an_epoch_that_is_not_there_is_not_found(folder: Path) -> None:
    with pytest.raises(NotFound):
        approver_store.read_epoch(folder, 1)
    with pytest.raises(CutterError):
        approver_store.load_current(folder, "0" * 64)
