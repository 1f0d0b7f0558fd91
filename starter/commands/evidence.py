"""IO: `cutter evidence export` writes a run's evidence bundle to a file, and `cutter verify` checks one offline."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group

from cutter.catalogue import Role
from cutter.domain.digests import sha256_hex
from cutter.domain.run_record import RunSidecar
from cutter.errors import Conflict, InvalidInput, NotFound
from cutter.evidence import bundle, offline
from cutter.evidence.bundle import Bundle
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from cutter.kb.store import Store
from cutter.projections.state_file import render_transitions
from cutter.settings import Settings, load
from cutter.storage import private
from cutter.storage import runs as run_rows
from cutter.storage.pools import session
from cutter.storage.run_evidence import BOTH
from cutter.types import Json
from starter.commands.options import Out, Run
from starter.console.confirmation import Yes, require_yes
from starter.console.failures import as_failure
from starter.console.terminal import AsJson, ExitCode, end, err, fields, output, show, table

app = typer.Typer(help="The evidence bundle of a run.", no_args_is_help=True, add_completion=False)

View = dict[str, Any]
_LAW_IS_IN_IT = (
    "the enacted text is in it: law.md, with its units in law.jsonl; the sha256 is of the bundle without these two"
)


@app.command()
def export(
    run: Run,
    out: Out = None,
    sign: Annotated[
        str | None, typer.Option("--sign", help="Sign it with this key of your own: its full fingerprint")
    ] = None,
    law: Annotated[
        bool, typer.Option("--with-law", help="Add the enacted text, which the signed digests cover")
    ] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Write a run's evidence bundle, as its closeout sealed it or, before that, of the present state.

    The default file is evidence-<run id>.tar here.

    Example: cutter evidence export ICX-LAW-2026-001 -o evidence.tar
    """
    settings = load()
    made, sealed, signature = exported(settings, run_rows.run_id_of(settings, run))
    data = made.data
    if law:
        # The stored signature is of the sealed bundle, so it does not fit the file with the law.
        signature = None
        document = str(offline.Bundle(data).run["document_id"])
        with session(settings, Role.OPERATOR) as connection:
            data = bundle.with_law(data, bundle.law_members(connection, document, made.run_id))
    path = (out or Path(f"evidence-{made.run_id}.tar")).absolute()
    about = {
        "file": str(path),
        "sha256": made.sha256,
        "bytes": len(data),
        "run_id": made.run_id,
        "sealed": "by the closeout" if sealed else "no: the run is not closed, this is its present state",
        "head": made.head,
        "law": _LAW_IS_IN_IT if law else None,
    }
    if sign is not None:
        err().print(fields({**about, "file_sha256": sha256_hex(data)}), soft_wrap=True)
        require_yes(f"sign this bundle with the key {sign}?", yes=yes)
        signature = Gpg(None, interactive=True).sign_detached(data, sign)
    _write(path, data)
    if signature is not None:
        _write(Path(signature_of(str(path))), signature)
    answer = {
        **about,
        "signature": signature_of(str(path)) if signature else None,
        "next": f"cutter verify {path} --head {made.head} --sha256 {made.sha256}",
    }
    show(answer, as_json=as_json, render=lambda console: console.print(fields(answer), soft_wrap=True))


def exported(settings: Settings, run_id: str) -> tuple[Bundle, bool, bytes | None]:
    """(The bundle, whether a closeout sealed it, the stored signature).

    A sealed bundle comes from the artifact store. If it is missing there, it is made again, which must give the same
    bytes. Raises Conflict if the stored or remade bundle differs from the one that the closeout sealed.
    """
    with session(settings, Role.OPERATOR) as connection:
        read = BOTH.one(connection, {"run_id": run_id})
    facts, sidecar = read.evidence, read.sidecar
    if facts is None or sidecar is None:
        raise NotFound(f"no run {run_id}: see", then="cutter status", code="STOP_RUN_NOT_FOUND")
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


def _made(settings: Settings, facts: Json, sidecar: RunSidecar) -> Bundle:
    signed = bundle.gathered(facts, Store(settings.kb), settings.approvers)
    return bundle.built(facts, signed, render_transitions(sidecar), facts["history"])


def _write(path: Path, data: bytes) -> None:
    with output(path):
        private.write(path, data)


def verify(
    files: Sequence[Path], heads: Sequence[str], digests: Sequence[str], history: Path | None, epochs: Sequence[str],
    *, as_json: bool,
) -> None:  # fmt: skip
    """Check bundles offline and print each check. Exit code 1 if one failed."""
    for name, values in (("--head", heads), ("--sha256", digests)):
        if values and len(values) != len(files):
            raise InvalidInput(f"{name}: give it once for each file, in the same order: {len(values)} of {len(files)}")
    if history is not None and len(files) > 1:
        raise InvalidInput("--history: it belongs to one file; check that file without the others")
    history_bytes = history.read_bytes() if history else None
    try:
        bundles = [file.read_bytes() for file in files]
    except OSError as problem:
        raise InvalidInput(f"{problem.filename}: {problem.strerror}: name a bundle") from None
    checked = _checks(bundles, heads, digests, history_bytes, epochs)
    lines = [
        {"file": str(file), "verdict": verdict, "check": what, "why": why}
        for file, file_lines in zip(files, checked, strict=True)
        for what, verdict, why in file_lines
    ]
    every = [line for file_lines in checked for line in file_lines]
    answer: View = {"intact": not failed(every), "checks": lines}
    if failed(every):
        first = next(line for line in lines if line["verdict"] == "FAILED")
        answer = as_failure(answer, code="evidence_failed", message=f"{first['check']}: {first['why']}")
    # One table for each file, below the file's name if there are several.
    tables = []
    for file, file_lines in zip(files, checked, strict=True):
        rows = [(verdict, what, why) for what, verdict, why in file_lines]
        tables.append(table(("", "", ""), rows, title=f"\n{file}" if len(files) > 1 else None))
    show(answer, as_json=as_json, render=lambda console: console.print(Group(*tables)))
    end(ExitCode(offline.exit_code(every)))


def checks(data: bytes, *, head: str, sha256: str) -> list[offline.Line]:
    """Every check of one bundle against the values that its closeout printed."""
    return _checks([data], [head], [sha256])[0]


def _checks(
    files: Sequence[bytes], heads: Sequence[str], sha256s: Sequence[str], history: bytes | None = None,
    epochs: Sequence[str] = (),
) -> list[list[offline.Line]]:  # fmt: skip
    """Every check of each bundle, with gpg if it is installed. Raises InvalidInput for a file that is not a bundle."""
    try:
        return offline.check_files(files, heads, sha256s, history, shutil.which("gpg"), epochs)
    except offline.BROKEN:
        raise InvalidInput(
            "this is not an evidence bundle; type", then="cutter evidence export RUN -o FILE", rest=" to make one"
        ) from None


def failed(checked: Sequence[offline.Line]) -> bool:
    """Whether a check failed."""
    return any(verdict == offline.FAILED for _, verdict, _ in checked)
