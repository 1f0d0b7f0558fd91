"""IO: `cutter keys`: makes the keys of a deployment, and puts a worker's key into the home that the worker uses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

from cutter.errors import InvalidInput
from cutter.settings import load
from starter.console.terminal import Json, fields, show
from starter.local import deployment_keys
from starter.local.deployment_keys import KeyRole

app = typer.Typer(
    help="Keys of the workers and of messages (docs/guides/keys.md).", no_args_is_help=True, add_completion=False
)

EXPIRE_FORM = re.compile(r"0|[1-9][0-9]{0,3}[dwmy]")

Role = Annotated[KeyRole, typer.Option("--role", help="Whose key it is.")]


@app.command()
def make(
    role: Role,
    folder: Annotated[Path, typer.Argument(help="Folder for its files; it is made if it is missing")],
    expire: Annotated[str, typer.Option(help="Life of the key: days 30d, weeks, months, years 2y; 0: no end")] = "0",
    as_json: Json = False,
) -> None:
    """Make a key without a passphrase, as files: the private ROLE.key, the public ROLE.asc; nothing is replaced.

    Example: cutter keys make --role executor /etc/cutter/keys
    """
    if not EXPIRE_FORM.fullmatch(expire):
        raise InvalidInput(f"--expire {expire}: a number with d, w, m or y, such as 2y, or 0")
    made = deployment_keys.make(role, folder, expire=expire)
    public = ", ".join(map(str, made.public))
    found = {"role": role.value, "fingerprint": made.fingerprint, "private": str(made.private), "public": public}
    show(found, as_json=as_json, render=lambda out: out.print(fields(found), soft_wrap=True))


@app.command("import")
def install(
    role: Role,
    folder: Annotated[Path, typer.Argument(help="Folder with the files that `cutter keys make` wrote")],
    as_json: Json = False,
) -> None:
    """Put a worker's key into its GnuPG home in CUTTER_KEYS_DIR; a second call changes nothing.

    Example: cutter keys import --role executor /run/credentials/cutter-worker-exec.service
    """
    if role is KeyRole.NOTIFICATION:
        raise InvalidInput("this secret has no GnuPG home: put its file into CUTTER_SECRETS_DIR")
    settings = load()
    fingerprint = deployment_keys.install(role, folder, settings.keys)
    found = {"role": role.value, "fingerprint": fingerprint, "home": str(settings.keys / role)}
    show(found, as_json=as_json, render=lambda out: out.print(fields(found), soft_wrap=True))
