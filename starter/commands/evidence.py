"""IO: `cutter evidence export|verify`: writes a run's evidence bundle to a file, and checks one without database or
server.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from cutter.domain.digests import is_digest
from cutter.errors import Conflict, InvalidInput, NotFound
from cutter.evidence import bundle, offline
from cutter.evidence.bundle import Bundle
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.projections.state_file import render_transitions
from cutter.settings import Settings, load
from cutter.storage import private
from cutter.storage import runs as known_runs
from cutter.storage.pools import OPERATOR, session
from cutter.storage.run_evidence import BOTH
from starter.console.failures import as_failure
from starter.console.terminal import ExitCode, Json, end, fields, show, table

app = typer.Typer(
    help="The evidence bundle of a run: export it, verify it offline.", no_args_is_help=True, add_completion=False
)

View = dict[str, Any]
HEAD = "The audit head that was kept elsewhere: 64 hex characters"


@app.command()
def export(
    run: Annotated[str, typer.Argument(help="Run id, or document id (its open run, else its newest)")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File; default: evidence-<run id>.tar here", dir_okay=False)
    ] = None,
    sign: Annotated[
        str | None, typer.Option("--sign", help="Sign it with this key of your own: its full fingerprint")
    ] = None,
    as_json: Json = False,
) -> None:
    """Write a run's evidence bundle, as its closeout sealed it or, before that, of the present state.

    Example: cutter evidence export ICX-LAW-2026-001 -o evidence.tar
    """
    settings = load()
    made, sealed, signature = exported(settings, known_runs.run_id_of(settings, run))
    path = (out or Path(f"evidence-{made.run_id}.tar")).absolute()
    if sign is not None:
        signature = Gpg(None, interactive=True).sign_detached(made.data, sign)
    _write(path, made.data)
    if signature is not None:
        _write(Path(signature_of(str(path))), signature)
    found = {
        "file": str(path),
        "sha256": made.sha256,
        "bytes": len(made.data),
        "run_id": made.run_id,
        "sealed": "by the closeout" if sealed else "no: the run is not closed, this is its present state",
        "head": made.head,
        "signature": signature_of(str(path)) if signature else None,
        "next": f"cutter evidence verify {path} --head {made.head} --sha256 {made.sha256}",
    }
    show(found, as_json=as_json, render=lambda console: console.print(fields(found), soft_wrap=True))


def exported(settings: Settings, run_id: str) -> tuple[Bundle, bool, bytes | None]:
    """(The bundle, whether a closeout sealed it, the stored signature).

    A sealed bundle comes from the artifact store. If it is missing there, it is made again, which must give the same
    bytes. Raises Conflict if the stored or remade bundle differs from the one that the closeout sealed.
    """
    with session(settings, OPERATOR) as connection:
        read = BOTH.one(connection, {"run_id": run_id})
    facts, sidecar = read.evidence, read.sidecar
    if facts is None or sidecar is None:
        raise NotFound(f"no run {run_id}: see `cutter status`", code="STOP_RUN_NOT_FOUND")
    pins, store = facts["closed"], bundle.artifacts(settings.artifacts)
    if pins is None:
        return _made(settings, facts, sidecar), False, None
    sealed, name = str(pins["evidence_sha256"]), str(pins["evidence_artifact"])
    try:
        made = Bundle(run_id=run_id, head=pins["audit_head"], data=store.get(name))
    except NotFound:
        made = _made(settings, facts, sidecar)
    if made.sha256 != sealed:
        raise Conflict(f"the bundle of {run_id} is {made.sha256}, but its closeout sealed {sealed}")
    signature = signature_of(name)
    return made, True, store.get(signature) if store.exists(signature) else None


def _made(settings: Settings, facts: View, sidecar: View) -> Bundle:
    signed = bundle.gathered(facts, Store(settings.kb), settings.approvers)
    return bundle.built(facts, signed, render_transitions(sidecar), facts["history"])


def _write(path: Path, data: bytes) -> None:
    try:
        private.write(path, data)
    except OSError as problem:
        raise InvalidInput(f"--out {path}: {problem.strerror}: name a file in a folder that exists") from None


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A bundle", exists=True, dir_okay=False)],
    head: Annotated[str | None, typer.Option(help=HEAD)] = None,
    sha256: Annotated[str | None, typer.Option(help="The file's digest that was kept elsewhere")] = None,
    history: Annotated[
        Path | None, typer.Option(help="What `temporal workflow show --output json` printed", exists=True)
    ] = None,
    epoch: Annotated[
        list[str] | None, typer.Option(help="The sha256 of a policy epoch that was in force; may be repeated")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a bundle offline; each check prints OK, FAILED or NOT CHECKED; exit 1 if one failed.

    Exit 5: nothing failed, but gpg is missing here, so no signature was checked. A file that is not a bundle is invalid
    input: exit 2. scripts/verify/verify_evidence.py does the same without cutter.

    Example: cutter evidence verify evidence.tar --head 3598c3b6…
    """
    epochs = epoch or []
    for name, value in (("--head", head), ("--sha256", sha256), *(("--epoch", one) for one in epochs)):
        if value is not None and not is_digest(value):
            raise InvalidInput(
                f"{name} {value}: 64 lower-case hex characters, as `cutter evidence export` printed them"
            )
    seen = history.read_bytes() if history else None
    checked = checks(file.read_bytes(), head=head, sha256=sha256, history=seen, epochs=epochs)
    lines = [{"verdict": verdict, "check": what, "why": why} for what, verdict, why in checked]
    rows = [(line["verdict"], line["check"], line["why"]) for line in lines]
    found: View = {"intact": not failed(checked), "checks": lines}
    if failed(checked):
        first = next(line for line in lines if line["verdict"] == "FAILED")
        found = as_failure(found, code="evidence_failed", message=f"{first['check']}: {first['why']}")
    show(found, as_json=as_json, render=lambda console: console.print(table(("", "", ""), rows)))
    end(ExitCode(offline.exit_code(checked)))


def checks(
    data: bytes,
    *,
    head: str | None,
    sha256: str | None,
    history: bytes | None = None,
    epochs: Sequence[str] = (),
) -> list[offline.Line]:
    """Every check of a bundle, with gpg if it is installed. Raises InvalidInput for a file that is not a bundle."""
    try:
        return offline.check(data, head, sha256, history, shutil.which("gpg"), epochs)
    except offline.BROKEN:
        raise InvalidInput(
            "this is not an evidence bundle; type `cutter evidence export RUN -o FILE` to make one"
        ) from None


def failed(checked: list[offline.Line]) -> bool:
    """Whether a check failed."""
    return any(verdict == offline.FAILED for _, verdict, _ in checked)
