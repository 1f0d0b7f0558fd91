"""IO: `cutter keys`: makes the keys of a deployment, and puts a worker's key into the home that the worker uses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from cutter.errors import InvalidInput
from cutter.gpg import Gpg
from cutter.settings import load
from starter.commands.options import GpgHome
from starter.console.terminal import AsJson, fields, show
from starter.local import keys
from starter.local.keys import KeyRole

app = typer.Typer(
    help="Keys of workers, messages and approvers (docs/guides/keys.md).", no_args_is_help=True, add_completion=False
)

EXPIRE_FORM = re.compile(r"0|[1-9][0-9]{0,3}[dwmy]")

Role = Annotated[KeyRole, typer.Option("--role", help="Whose key it is.")]


@app.command()
def make(
    role: Role,
    folder: Annotated[Path, typer.Argument(help="Folder for its files; it is made if it is missing")],
    expire: Annotated[
        str | None, typer.Option(help="Life: 30d, 8w, 6m, 2y, or 0 for no end; default: 2y for an approver, else 0")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the approver, such as 'An <an@example.org>'")] = None,
    gpg_home: GpgHome = None,
    as_json: AsJson = False,
) -> None:
    """Make a worker's key as files without a passphrase, or an approver's key in their own GnuPG home with one.

    Example: cutter keys make --role executor /etc/cutter/keys
    """
    life = expire or ("2y" if role is KeyRole.APPROVER else "0")
    if not EXPIRE_FORM.fullmatch(life):
        raise InvalidInput(f"--expire {expire}: a number with d, w, m or y, such as 2y, or 0")
    if (name is not None) != (role is KeyRole.APPROVER):
        raise InvalidInput("--name is for --role approver, which needs it: --name 'An <an@example.org>'")
    if name is not None:
        made = keys.make_approver(Gpg(gpg_home, interactive=True), name, folder, expire=life)
    else:
        made = keys.make(role, folder, expire=life)
    answer = {
        "role": role.value, "fingerprint": made.fingerprint, "public": ", ".join(map(str, made.public)),
        "private": str(made.private or "in your GnuPG home"),
    }  # fmt: skip
    show(answer, as_json=as_json, render=lambda out: out.print(fields(answer), soft_wrap=True))


@app.command("import")
def install(
    role: Role,
    folder: Annotated[Path, typer.Argument(help="Folder with the files that `cutter keys make` wrote")],
    as_json: AsJson = False,
) -> None:
    """Put a worker's key into its GnuPG home in CUTTER_KEYS_DIR, and its passwords into CUTTER_SECRETS_DIR.

    Example: cutter keys import --role executor /run/credentials/cutter-worker-exec.service
    """
    if role is KeyRole.NOTIFICATION:
        raise InvalidInput("this secret has no GnuPG home: put its file into CUTTER_SECRETS_DIR")
    if role is KeyRole.APPROVER:
        raise InvalidInput("an approver's key stays in the approver's own home:", then="cutter approvers --help")
    settings = load()
    fingerprint = keys.install(role, folder, settings.keys, settings.secrets)
    answer = {"role": role.value, "fingerprint": fingerprint, "home": str(settings.keys / role)}
    show(answer, as_json=as_json, render=lambda out: out.print(fields(answer), soft_wrap=True))
