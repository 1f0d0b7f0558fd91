"""IO: `cutter approvers`: manages policy epochs. The database's owner installs each epoch; the approvers of each epoch
sign the next. To read, propose and sign needs only the operator's role.
"""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from psycopg.types.json import Jsonb
from rich.text import Text

from cutter.approvals import approver_store
from cutter.approvals.policy import ApproverPolicy
from cutter.approvals.policy import Signing as SigningRule
from cutter.approvals.policy_file import differences
from cutter.catalogue import Role
from cutter.domain.amounts import counted
from cutter.domain.digests import sha256_hex
from cutter.errors import InvalidInput, NotFound, Refused
from cutter.gpg import Gpg
from cutter.settings import Settings, load
from cutter.storage.policies import EPOCH
from cutter.storage.pools import CLOCK, session
from starter.approver import signing_desk
from starter.commands.options import Approver, GpgHome, Key
from starter.console.confirmation import Yes, require_yes
from starter.console.terminal import AsJson, err, line, say, show, table

app = typer.Typer(help="Who may approve: numbered, signed policy epochs.", no_args_is_help=True, add_completion=False)

Approvers = Annotated[
    list[str], typer.Option("--approver", help="NAME=PUBLIC_KEY_FILE, such as an=an.asc; may be repeated")
]

SigningOption = Annotated[
    SigningRule | None,
    typer.Option(
        "--signing", help="`optional`: a press in Slack may let a rehearsal continue (docs/guides/notifications.md)"
    ),
]


def install(settings: Settings, policy: ApproverPolicy) -> None:
    """Write an epoch's row, as the database's owner."""
    with session(settings, Role.OWNER) as connection:
        connection.execute(
            "select cutter_governance.fn_policy_install(%s, %s, %s, %s, %s, %s)",
            (
                policy.number,
                policy.deployment_id,
                policy.data.decode(),
                Jsonb(policy.thresholds()),
                Jsonb(policy.tiers()),
                policy.lifecycle_group,
            ),
        )


def in_force(settings: Settings, *, role: Role = Role.OPERATOR) -> str:
    """sha256 of the epoch that the database names. `role` is the database role that reads."""
    with session(settings, role) as connection:
        epoch = EPOCH.first(connection)
    if epoch is None:
        raise NotFound("no policy is installed: type", then="cutter approvers init --approver NAME=KEY.asc")
    return epoch.sha256


def new_approvers(entries: list[str]) -> list[approver_store.NewApprover]:
    """Read NAME=FILE entries as approvers."""
    made = []
    for entry in entries:
        name, mark, file = entry.partition("=")
        if not mark or not Path(file).is_file():
            wrong = f"there is no file {file}" if mark else "NAME=PUBLIC_KEY_FILE is wanted"
            raise InvalidInput(
                f"--approver {entry}: {wrong}; make it with `gpg --armor --export YOUR_KEY > {name}.asc`, then give "
                f"--approver {name}={name}.asc"
            )
        made.append(approver_store.NewApprover(name=name, public_key=Path(file).read_bytes()))
    return made


@app.command()
def init(approver: Approvers, signing_rule: SigningOption = None, as_json: AsJson = False) -> None:
    """Make epoch 1 with a new deployment id, and install it as the database's owner.

    Example: cutter approvers init --approver an=an.asc
    """
    settings, given = load(), new_approvers(approver)
    try:
        policy = approver_store.read_epoch(settings.approvers, 1)
    except NotFound:
        policy = approver_store.init(settings.approvers, approvers=given, signing=signing_rule or SigningRule.REQUIRED)
    wanted = {(new.name, sha256_hex(new.public_key)) for new in given}
    present = {(known.name, known.key_sha256) for known in policy.approvers}
    if wanted != present or signing_rule not in (None, policy.signing):
        named = ", ".join(f"{known.name} ({known.fingerprint[-16:]})" for known in policy.approvers)
        raise Refused(
            f"epoch 1 names {named} already, signing {policy.signing}: type",
            then="cutter approvers propose --approver NAME=KEY.asc",
            rest=", have it signed by them with `cutter approvers sign 2`, then `cutter approvers install 2`",
            code="epoch_exists",
        )
    install(settings, policy)
    _warn_of_self(policy)
    _show(policy, as_json=as_json)
    if not as_json:
        say("next: cutter profile suggest FILE")


@app.command()
def propose(approver: Approvers, signing_rule: SigningOption = None, as_json: AsJson = False) -> None:
    """Write the next epoch, unsigned; the approvers of the present one then sign it with `approvers sign`.

    Until it is installed, another proposal replaces it, and its signatures no longer count.

    Example: cutter approvers propose --approver an=an.asc --approver binh=binh.asc
    """
    settings = load()
    policy, _ = approver_store.load_current(settings.approvers, in_force(settings))
    with suppress(NotFound):
        earlier = approver_store.read_epoch(settings.approvers, policy.number + 1)
        named = ", ".join(person.name for person in earlier.approvers)
        say(f"epoch {earlier.number} was proposed before, with {named}: signatures of another text no longer count")
    following = approver_store.propose(
        settings.approvers, policy, approvers=new_approvers(approver), signing=signing_rule
    )
    _warn_of_self(following)
    _show(following, as_json=as_json)
    if not as_json:
        say(f"next: cutter approvers sign {following.number}")


@app.command()
def sign(
    number: Annotated[int, typer.Argument(help="The proposed epoch's number")],
    approver: Approver = None,
    key: Key = None,
    gpg_home: GpgHome = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Show what a proposed epoch changes, then sign it with your own key; only approvers of the epoch in force may.

    Example: cutter approvers sign 2 --approver an
    """
    settings = load()
    present, _ = approver_store.load_current(settings.approvers, in_force(settings))
    following = approver_store.read_epoch(settings.approvers, number)
    if following.previous_sha256 != present.sha256:
        raise Refused(
            f"epoch {number} does not follow epoch {present.number}, which is in force: nothing to sign; type",
            then="cutter approvers propose --approver NAME=KEY.asc",
            code="epoch_order",
        )
    signer = signing_desk.who(settings, approver, key, gpg_home)
    err().print(*_changes(present, following), sep="\n", soft_wrap=True)
    require_yes(f"sign epoch {number} as {signer.approver}?", yes=yes)
    signature = Gpg(gpg_home, interactive=True).sign_detached(following.data, signer.fingerprint)
    path = approver_store.add_signature(settings.approvers, following, signer.fingerprint, signature)
    missing = None
    try:
        now = _database_clock(settings, Role.OPERATOR)
        approver_store.check_succession(settings.approvers, present, following, now=now)
    except Refused as problem:
        missing = str(problem)
    answer = {"signature": str(path), "approver": signer.approver, "missing": missing,
              "next": None if missing else f"cutter approvers install {number}"}  # fmt: skip
    then = missing or f"next: {answer['next']}"
    show(answer, as_json=as_json, render=lambda out: out.print(f"signed: {path.name}\n{then}", soft_wrap=True))


def _changes(present: ApproverPolicy, following: ApproverPolicy) -> Iterator[Text]:
    """What the proposed epoch says otherwise than the one in force: the old line, and below it the new one."""
    yield line(f"epoch {following.number}, sha256 {following.sha256}", "bold")
    changes = differences(present, following)
    yield line(f"{counted(len(changes), 'difference')} to epoch {present.number}, which is in force")
    for change in changes:
        if change.before is not None:
            yield line(f"- {change.subject}: {change.before}", "red")
        if change.after is not None:
            yield line(f"+ {change.subject}: {change.after}", "green")


@app.command(name="install")
def install_command(number: Annotated[int, typer.Argument(help="The epoch's number")], as_json: AsJson = False) -> None:
    """Install a proposed epoch after enough approvers of the present one have signed it.

    Example: cutter approvers install 2
    """
    settings = load()
    previous, _ = approver_store.load_current(settings.approvers, in_force(settings, role=Role.OWNER))
    following = approver_store.read_epoch(settings.approvers, number)
    approver_store.check_succession(settings.approvers, previous, following, now=_database_clock(settings, Role.OWNER))
    install(settings, following)
    _show(following, as_json=as_json)


def _database_clock(settings: Settings, role: Role) -> datetime:
    with session(settings, role) as connection:
        return CLOCK.one(connection)


def _warn_of_self(policy: ApproverPolicy) -> None:
    """Refuse an approver with the name of the operating system's user, because that user is the starter of the runs."""
    me = getpass.getuser()
    if any(approver.name == me for approver in policy.approvers):
        say(f"{me} may not approve runs that {me} starts: let somebody else start them, or name the approver otherwise")


def _show(policy: ApproverPolicy, *, as_json: bool) -> None:
    people = [{"name": approver.name, "fingerprint": approver.fingerprint} for approver in policy.approvers]
    rows = [
        (approver.name, approver.fingerprint, ", ".join(approver.gates), ", ".join(approver.groups))
        for approver in policy.approvers
    ]
    title = f"epoch {policy.number} of deployment {policy.deployment_id} · sha256 {policy.sha256[:16]}"
    title += f" · signing {policy.signing}"
    show(
        {"epoch": policy.number, "deployment_id": policy.deployment_id, "sha256": policy.sha256,
         "signing": policy.signing.value, "approvers": people},
        as_json=as_json,
        render=lambda out: out.print(table(("approver", "fingerprint", "gates", "groups"), rows, title=title)),
    )  # fmt: skip
