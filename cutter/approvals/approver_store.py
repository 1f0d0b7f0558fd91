"""IO: the folder of policy epochs and approvers' public keys.

    <approvers_dir>/epoch-0001.yaml            the policy; its sha256 is in the database
    <approvers_dir>/epoch-0002.yaml
    <approvers_dir>/epoch-0002.yaml.<fpr>.asc  signatures of approvers of epoch 1 over it
    <approvers_dir>/keys/<fpr>-<16 hex>.asc    public keys, each named in an epoch by its sha256

cutter trusts no file of the folder by itself. It finds the epoch by the sha256 that the database names, and a key by
the sha256 that the epoch names. So a changed or missing file means "could not verify", and never another answer.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from cutter import gpg, limits
from cutter.approvals.policy import ALL_GATES, DEFAULT_THRESHOLDS, Approver, ApproverPolicy, GateRule, Signing, Tier
from cutter.approvals.policy_file import parse_policy, refuse_succession, render_policy
from cutter.domain.digests import sha256_hex
from cutter.errors import Conflict, InvalidInput, NotFound, Refused, Unavailable
from cutter.gpg import Gpg, find_binary
from cutter.types import Refusal

_FIRST = datetime(2000, 1, 1, tzinfo=UTC)
_LAST = datetime(2099, 12, 31, tzinfo=UTC)
DEFAULT_GROUP = "sovereigns"
GPG_VERSION_FLOOR = (2, 2, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewApprover:
    """A person to add to an epoch. `public_key` is their armored export. Without gates the person may sign nothing."""

    name: str
    public_key: bytes
    groups: tuple[str, ...] = (DEFAULT_GROUP,)
    gates: tuple[str, ...] = ALL_GATES
    not_before: datetime = _FIRST
    not_after: datetime = _LAST


def default_rules(tier: Tier = Tier.MEDIUM) -> tuple[GateRule, ...]:
    """Both sovereign gates at one tier with the default thresholds: one person, or two people for tier high."""
    return tuple(GateRule(gate=gate, tier=tier, thresholds=tuple(DEFAULT_THRESHOLDS.items())) for gate in ALL_GATES)


def init(
    approvers_dir: Path,
    *,
    approvers: Sequence[NewApprover],
    gates: tuple[GateRule, ...] | None = None,
    lifecycle_group: str = DEFAULT_GROUP,
    succession: int = 1,
    gpg_binary: str | None = None,
    gpg_version_floor: tuple[int, ...] = GPG_VERSION_FLOOR,
    deployment_id: str | None = None,
    signing: Signing = Signing.REQUIRED,
) -> ApproverPolicy:
    """Make epoch 1 with a new deployment_id. The database's owner then puts its sha256 into the database.

    Raises Conflict if the folder already has an epoch 1.
    """
    binary = gpg_binary or find_binary()
    first = ApproverPolicy(
        number=1, deployment_id=deployment_id or str(uuid.uuid4()), previous_sha256=None,
        approvers=tuple(_take_key(approvers_dir, approver, binary) for approver in approvers),
        gates=default_rules() if gates is None else gates, lifecycle_group=lifecycle_group, succession=succession,
        gpg_binary=binary, gpg_version_floor=gpg_version_floor, signing=signing,
    )  # fmt: skip
    return _write_epoch(approvers_dir, render_policy(first))


def propose(
    approvers_dir: Path,
    previous: ApproverPolicy,
    *,
    approvers: Sequence[NewApprover | Approver],
    gates: tuple[GateRule, ...] | None = None,
    lifecycle_group: str | None = None,
    succession: int | None = None,
    signing: Signing | None = None,
) -> ApproverPolicy:
    """Write the epoch after `previous`, without signatures. Values that are not given stay as they were.

    A proposal is not in force. So another proposal of the same number replaces it together with its signatures.
    """
    following = replace(
        previous, number=previous.number + 1, previous_sha256=previous.sha256,
        approvers=tuple(
            approver
            if isinstance(approver, Approver)
            else _take_key(approvers_dir, approver, previous.gpg_binary)
            for approver in approvers
        ),
        gates=previous.gates if gates is None else gates, succession=succession or previous.succession,
        lifecycle_group=lifecycle_group or previous.lifecycle_group, signing=signing or previous.signing,
    )  # fmt: skip
    data = render_policy(following)
    path = _epoch_path(approvers_dir, previous.number + 1)
    if path.is_file() and path.read_bytes() != data:
        for outdated in (*approvers_dir.glob(f"{path.name}.*.asc"), path):
            outdated.unlink()
    return _write_epoch(approvers_dir, data)


def add_signature(approvers_dir: Path, epoch: ApproverPolicy, fingerprint: str, signature: bytes) -> Path:
    """Store an approver's detached signature of an epoch; `check_succession` says whether it counts."""
    path = _epoch_path(approvers_dir, epoch.number)
    return _write_new(path.with_name(f"{path.name}.{fingerprint}.asc"), signature)


def check_succession(
    approvers_dir: Path, previous: ApproverPolicy, following: ApproverPolicy, *, now: datetime
) -> None:
    """Raise Refused, with what is missing, if the next epoch may not be installed. `now` is the database's clock."""
    _, ring = load_current(approvers_dir, previous.sha256)
    name = _epoch_path(approvers_dir, following.number).name
    files = sorted(approvers_dir.glob(f"{name}.*.asc"))[: limits.APPROVALS_A_GATE_MAX * 2]
    signatures = []
    for path in files:
        with _reading(path), path.open("rb") as file:
            data = file.read(limits.SIGNATURE_BYTES_MAX + 1)
        signatures.append((data, ring.verify_detached(following.data, data)))
    away = next((evidence.unverifiable for _, evidence in signatures if evidence.unverifiable), None)
    if away is not None:
        raise Unavailable(f"the signatures of the new epoch could not be verified: {away}", what="gpg")
    refusal = refuse_succession(previous, following, signatures, now=now)
    if isinstance(refusal, Refusal):
        raise Refused(refusal.reason, code=refusal.code)


def read_epoch(approvers_dir: Path, number: int) -> ApproverPolicy:
    """The policy in an epoch's present file. Only the database says whether it is in force."""
    path = _epoch_path(approvers_dir, number)
    with _reading(path):
        try:
            return parse_policy(path.read_bytes())
        except FileNotFoundError:
            raise NotFound(f"no {path.name} in {approvers_dir}") from None


def public_key(approvers_dir: Path, approver: Approver) -> bytes:
    """The public key that an epoch names by its sha256. Raises NotFound if the folder does not hold it."""
    path = _key_path(approvers_dir, approver.fingerprint, approver.key_sha256)
    with _reading(path):
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            data = b""
    if sha256_hex(data) != approver.key_sha256:
        raise NotFound(f"the public key of {approver.name} is missing or changed in {approvers_dir}")
    return data


def load_current(approvers_dir: Path, expected_sha256: str) -> tuple[ApproverPolicy, Gpg]:
    """The epoch whose sha256 the database names, and a keyring of exactly its approvers' keys.

    The file is compared at every call. Raises Unavailable: `approvers` if the file or a key is missing or changed,
    `gpg` if the binary is missing or older than the epoch's floor.
    """
    # The newest file comes first, because the epoch in force is nearly always the last one.
    for path in sorted(approvers_dir.glob("epoch-[0-9][0-9][0-9][0-9].yaml"), reverse=True):
        with _reading(path):
            data = path.read_bytes()
        if sha256_hex(data) == expected_sha256:
            break
    else:
        raise Unavailable(
            f"no epoch in {approvers_dir} has the sha256 {expected_sha256} that the database names; restore the file",
            what="approvers",
        )
    policy = parse_policy(data)
    ring = _ring(approvers_dir.absolute(), policy)
    if ring.home is None or not (ring.home / "pubring.kbx").is_file():
        # Another program removed the temporary folder of a long-lived worker. The keys can be read again.
        _ring.cache_clear()
        ring = _ring(approvers_dir.absolute(), policy)
    return policy, ring


@lru_cache(maxsize=8)
def _ring(approvers_dir: Path, policy: ApproverPolicy) -> Gpg:
    folder = approvers_dir / "keys"
    with _reading(folder):
        keys = {sha256_hex(data): data for data in (path.read_bytes() for path in sorted(folder.glob("*.asc")))}
    home = gpg.new_folder()
    fingerprints = frozenset(approver.fingerprint for approver in policy.approvers)
    ring = Gpg(home, policy.gpg_binary, required=fingerprints)
    gpg.remove_with(ring, home)
    if ring.version() < policy.gpg_version_floor:
        floor = ".".join(map(str, policy.gpg_version_floor))
        raise Unavailable(f"{policy.gpg_binary} is older than {floor}, the epoch's floor; update GnuPG", what="gpg")
    for approver in policy.approvers:
        if approver.key_sha256 not in keys:
            raise Unavailable(
                f"the public key of {approver.name} is missing or changed in {approvers_dir}", what="approvers"
            )
        ring.import_key(keys[approver.key_sha256])
    strangers = set(ring.primary_fingerprints()) ^ fingerprints
    if strangers:
        raise Unavailable(f"the keyring of approvers is not the epoch's: {min(strangers)}", what="approvers")
    return ring


def _take_key(approvers_dir: Path, approver: NewApprover, binary: str) -> Approver:
    with tempfile.TemporaryDirectory(prefix="cg-") as home:
        fingerprints = Gpg(Path(home), binary).import_key(approver.public_key)
    if len(fingerprints) != 1:
        raise InvalidInput(f"the key file of {approver.name} holds {len(fingerprints)} keys; export exactly one")
    digest = sha256_hex(approver.public_key)
    _write_new(_key_path(approvers_dir, fingerprints[0], digest), approver.public_key)
    return Approver(
        name=approver.name,
        fingerprint=fingerprints[0],
        key_sha256=digest,
        groups=approver.groups,
        gates=approver.gates,
        not_before=approver.not_before,
        not_after=approver.not_after,
    )


def _write_epoch(approvers_dir: Path, data: bytes) -> ApproverPolicy:
    policy = parse_policy(data)
    _write_new(_epoch_path(approvers_dir, policy.number), data)
    return policy


def _write_new(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        if path.read_bytes() != data:
            raise Conflict(f"{path} exists with other bytes; nothing was changed") from None
    return path


def _epoch_path(approvers_dir: Path, number: int) -> Path:
    return approvers_dir / f"epoch-{number:04d}.yaml"


def _key_path(approvers_dir: Path, fingerprint: str, key_sha256: str) -> Path:
    return approvers_dir / "keys" / f"{fingerprint}-{key_sha256[:16]}.asc"


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        message = f"{path} cannot be read ({problem.strerror}); check the folder of approvers"
        raise Unavailable(message, what="approvers") from problem
