"""IO: `cutter approvers`: policy epochs: the first is the database owner's, each next one signed by the one before."""

from __future__ import annotations

import getpass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from cutter.approvals import epochs
from cutter.approvals.policy import Policy
from cutter.approvals.policy import Signing as SigningRule
from cutter.errors import InvalidInput, NotFound, Refused
from cutter.gpg import Gpg
from cutter.settings import Settings, load
from cutter.storage.migrate import OWNER
from cutter.storage.pools import session
from cutter.storage.queries import query
from starter.approver import signing
from starter.console.terminal import Json, say, show, table

app = typer.Typer(help="Who may approve: numbered, signed policy epochs.", no_args_is_help=True, add_completion=False)

Approvers = Annotated[
    list[str], typer.Option("--approver", help="NAME=PUBLIC_KEY_FILE, such as an=an.asc; may be repeated")
]

SigningOption = Annotated[
    SigningRule | None,
    typer.Option("--signing", help="`optional`: policy stops may be lifted without a signature (docs/guides/slack.md)"),
]


def install(settings: Settings, policy: Policy) -> None:
    """Write an epoch's row, as the database's owner."""
    with session(settings, OWNER) as connection:
        connection.execute(
            "select cutter_governance.fn_policy_install(%s, %s, %s, %s::jsonb, %s::jsonb, %s)",
            (
                policy.number,
                policy.deployment_id,
                policy.data.decode(),
                _json(policy.thresholds()),
                _json(policy.tiers()),
                policy.lifecycle_group,
            ),
        )


def in_force(settings: Settings) -> str:
    """sha256 of the epoch that the database names."""
    with session(settings, OWNER) as connection:
        row = connection.execute(query("policy_in_force")).fetchone()
    if row is None:
        raise NotFound("no policy is installed: type `cutter approvers init --approver NAME=KEY.asc`")
    return str(row[0])


def new_approvers(entries: list[str]) -> list[epochs.NewApprover]:
    """NAME=FILE entries as approvers."""
    made = []
    for entry in entries:
        name, mark, file = entry.partition("=")
        if not mark or not Path(file).is_file():
            wrong = f"there is no file {file}" if mark else "NAME=PUBLIC_KEY_FILE is wanted"
            raise InvalidInput(
                f"--approver {entry}: {wrong}; make it with `gpg --armor --export YOUR_KEY > {name}.asc`, then give "
                f"--approver {name}={name}.asc"
            )
        made.append(epochs.NewApprover(name=name, public_key=Path(file).read_bytes()))
    return made


@app.command()
def init(approver: Approvers, signing_rule: SigningOption = None, as_json: Json = False) -> None:
    """Make epoch 1 with a new deployment id, and install it as the database's owner.

    Example: cutter approvers init --approver an=an.asc
    """
    settings = load()
    try:
        policy = epochs.read_epoch(settings.approvers, 1)
    except NotFound:
        policy = epochs.init(
            settings.approvers, approvers=new_approvers(approver), signing=signing_rule or SigningRule.REQUIRED
        )
    wanted, present = {entry.partition("=")[0] for entry in approver}, {one.name for one in policy.approvers}
    if wanted != present or signing_rule not in (None, policy.signing):
        raise Refused(
            f"epoch 1 names {', '.join(sorted(present))} already, signing {policy.signing}: type `cutter approvers "
            "propose --approver NAME=KEY.asc`, have it signed by them with `cutter approvers sign 2`, then "
            "`cutter approvers install 2`",
            code="epoch_exists",
        )
    install(settings, policy)
    _warn_of_self(policy)
    _show(policy, as_json=as_json)


@app.command()
def propose(approver: Approvers, signing_rule: SigningOption = None, as_json: Json = False) -> None:
    """Write the next epoch, unsigned; the approvers of the present one then sign it with `approvers sign`.

    Example: cutter approvers propose --approver an=an.asc --approver binh=binh.asc
    """
    settings = load()
    policy, _ = epochs.load_current(settings.approvers, in_force(settings))
    following = epochs.propose(settings.approvers, policy, approvers=new_approvers(approver), signing=signing_rule)
    _warn_of_self(following)
    _show(following, as_json=as_json)


@app.command()
def sign(
    number: Annotated[int, typer.Argument(help="The proposed epoch's number")],
    approver: Annotated[str | None, typer.Option(help="Your name in the policy in force")] = None,
    key: Annotated[str | None, typer.Option(help="Primary fingerprint of your key")] = None,
    gpg_home: Annotated[Path | None, typer.Option(help="GnuPG home; default: your own")] = None,
    as_json: Json = False,
) -> None:
    """Sign a proposed epoch with your own key; only approvers of the epoch in force may.

    Example: cutter approvers sign 2 --approver an
    """
    settings = load()
    present, _ = epochs.load_current(settings.approvers, in_force(settings))
    following = epochs.read_epoch(settings.approvers, number)
    if following.previous_sha256 != present.sha256:
        raise Refused(
            f"epoch {number} does not follow epoch {present.number}, which is in force: nothing to sign; type "
            "`cutter approvers propose --approver NAME=KEY.asc`",
            code="epoch_order",
        )
    signer = signing.who(settings, approver, key, gpg_home)
    signature = Gpg(gpg_home, interactive=True).sign_detached(following.data, signer.fingerprint)
    path = epochs.add_signature(settings.approvers, following, signer.fingerprint, signature)
    missing = _missing(settings, present, following)
    found = {"signature": str(path), "approver": signer.approver, "missing": missing,
             "next": None if missing else f"cutter approvers install {number}"}  # fmt: skip
    then = missing or f"next: {found['next']}"
    show(found, as_json=as_json, render=lambda out: out.print(f"signed: {path.name}\n{then}", soft_wrap=True))


def _missing(settings: Settings, present: Policy, following: Policy) -> str | None:
    """What the next epoch still lacks; None when it may be installed."""
    try:
        epochs.check_succession(settings.approvers, present, following, now=_database_clock(settings))
    except Refused as problem:
        return str(problem)
    return None


@app.command(name="install")
def install_command(number: Annotated[int, typer.Argument(help="The epoch's number")], as_json: Json = False) -> None:
    """Install a proposed epoch when enough approvers of the present one have signed it.

    Example: cutter approvers install 2
    """
    settings = load()
    previous, _ = epochs.load_current(settings.approvers, in_force(settings))
    following = epochs.read_epoch(settings.approvers, number)
    epochs.check_succession(settings.approvers, previous, following, now=_database_clock(settings))
    install(settings, following)
    _show(following, as_json=as_json)


@app.command(name="show")
def show_command(as_json: Json = False) -> None:
    """Show the policy in force.

    Example: cutter approvers show
    """
    settings = load()
    policy, _ = epochs.load_current(settings.approvers, in_force(settings))
    _show(policy, as_json=as_json)


def _database_clock(settings: Settings) -> datetime:
    with session(settings, OWNER) as connection:
        row = connection.execute(query("database_clock")).fetchone()
    assert row is not None
    moment: datetime = row[0]  # type: ignore[assignment]
    return moment


def _json(value: Any) -> str:
    import json

    return json.dumps(value)


def _warn_of_self(policy: Policy) -> None:
    """The operating system's user is the starter of the runs that they start."""
    me = getpass.getuser()
    if any(one.name == me for one in policy.approvers):
        say(f"{me} may not approve runs that {me} starts: let somebody else start them, or name the approver otherwise")


def _show(policy: Policy, *, as_json: bool) -> None:
    rows = [(one.name, one.fingerprint, ", ".join(one.gates), ", ".join(one.groups)) for one in policy.approvers]
    title = f"epoch {policy.number} of deployment {policy.deployment_id} · sha256 {policy.sha256[:16]}"
    title += f" · signing {policy.signing}"
    show(
        {"epoch": policy.number, "deployment_id": policy.deployment_id, "sha256": policy.sha256,
         "signing": policy.signing.value, "approvers": [{"name": row[0], "fingerprint": row[1]} for row in rows]},
        as_json=as_json,
        render=lambda out: out.print(table(("approver", "fingerprint", "gates", "groups"), rows, title=title)),
    )  # fmt: skip
