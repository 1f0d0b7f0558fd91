"""IO: P28: texts that a terminal obeys, a reader cannot see or a document takes for markup, through every input.

    python -m tests.campaigns.p28_hostile_text --strings 20 --seed 1 --out p28.jsonl

Each trial writes one text through one input, as the role that may: a starter, the reason and author of a stop, a gate's
refusal and its report, a message that was refused, a worker's and its build's name, a batch's halt, item and queue. One
input writes past the checks: a title, text and reason of enacted law. Then every command that shows it is called,
through a pipe and on a terminal, for people and as JSON. The documents and pages about it, and `cutter desk`, are read
too. A trial leaks when a hidden character arrives, when a link, image or tag of a document is active, or when
the text adds a line that looks like ours.

The control arm is the same trial with the escaping functions replaced by functions that change nothing: it must leak.
"""

from __future__ import annotations

import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import asdict, dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import Any, LiteralString
from unittest import mock

import uuid_utils
from fastapi import FastAPI
from psycopg.types.json import Jsonb

from activities.run.course import begin_run, escalate
from cutter.batch import batch_step, documents
from cutter.batch.triage import Triage, disposition
from cutter.catalogue import Role, WorkerRole
from cutter.domain.next_step import Needs, Step, StepFacts
from cutter.messages import BeginInput, EscalateInput, RunInput
from cutter.projections import state_file
from cutter.projections.state_file import render_state
from cutter.storage import batches as batch_rows
from cutter.storage import runs as run_rows
from cutter.storage.batches import Options
from cutter.storage.pools import connect
from cutter.storage.runs import caps_of
from cutter.types import Json
from starter.cli import run as command
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support import desks
from tests.support.batch import queue_yaml
from tests.support.database import Database, own_cluster
from tests.support.hostile import STRINGS, TERMINAL, bare_addresses, leaks, live
from tests.support.hostile_rows import unchecked
from tests.support.runs import Deployment, Keys, deployment, drive, keyring, law
from tests.unit.batch import views

NOBODY = "127.0.0.1:1"
"""No Temporal answers there: what is shown comes from the database."""

OURS = re.compile(r"\x1b\[(\d+(;\d+)*)?m|\x1b\[\?25[lh]|\x1b\[\d*[AK]")
"""What the commands write to a terminal themselves."""

_FAKE_LINE = re.compile(r"^(next|needs): cutter approve evil", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Where a text was written: the run or batch that shows it, and documents that were made of it."""

    shown: tuple[tuple[str, ...], ...]
    documents: Callable[[], Iterator[str]] = lambda: iter(())
    desk: tuple[str, ...] = ()


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


# --- inputs -----------------------------------------------------------------------------------------------------------


def begun(made: Deployment, starter: str = "olga") -> str:
    """A run of a law of its own."""
    name = made.register(law(2))
    start = BeginInput(
        run=RunInput(document_id=name, mode="live", starter=starter), first_execution_id=str(uuid_utils.uuid4())
    )
    return begin_run(made.deps[WorkerRole.CUTTER], start).run_id


def of_run(made: Deployment, run_id: str) -> Written:
    """What shows a run; its stop-route report and its gates' reports are rendered again."""

    def rendered() -> Iterator[str]:
        folder = Path(str(made.settings.kb).removeprefix("file://"))
        yield from (path.read_text(encoding="utf-8") for path in folder.rglob("SG3-*.md") if run_id in path.read_text())
        sidecar = run_rows.sidecar(made.settings, run_id)
        yield from (state_file.render_gate(sidecar.run, receipt).decode() for receipt in sidecar.receipts)

    shown = (("status",), ("status", run_id), ("status", run_id, "--as", "run"), ("inbox",), ("report", run_id))
    desk = ("/inbox", "/runs", f"/runs/{run_id}")
    return Written(shown=shown, documents=rendered, desk=desk)


def starter(made: Deployment, text: str) -> Written:
    return of_run(made, begun(made, text[:100]))


def stop(made: Deployment, text: str) -> Written:
    """The latch's reason and author, and the workflow's own report of the stop."""
    run_id = begun(made)
    made.database.value(
        "select cutter_governance.fn_stop_set(%s, 'stop', %s, %s)", (run_id, text, text), role="cutter_operator"
    )
    escalate(
        made.deps[WorkerRole.CUTTER], EscalateInput(run_id=run_id, state="stopped_stop", gate=text[:60], reason=text)
    )
    return of_run(made, run_id)


def refusal(made: Deployment, text: str) -> Written:
    """A gate's refusal with its report, by the role that serves the gate."""
    run_id = begun(made)
    made.database.value(
        "select cutter_governance.fn_gate_attempt(%s, 'IG_source_pin', %s, 60)",
        (run_id, text[:100]),
        role="cutter_read",
    )
    violation = {"name": text, "ok": False, "observed": text, "expected": text}
    report = {
        "gate": "IG_source_pin",
        "invariants": [violation],
        "violations": [violation],
        "pins": {},
        "notes": [text],
    }
    made.database.value(
        "select cutter_governance.fn_gate_refuse(%s, 'IG_source_pin', 1, 'refused', %s, %s, 'failed_source_pin')",
        (run_id, text, Jsonb(report)), role="cutter_read",
    )  # fmt: skip
    escalate(
        made.deps[WorkerRole.CUTTER],
        EscalateInput(run_id=run_id, state="failed_source_pin", gate="IG_source_pin", reason=text),
    )
    return of_run(made, run_id)


def message(made: Deployment, text: str) -> Written:
    """A signal by any name, with anything in it."""
    run_id = begun(made)
    made.database.value(
        "select cutter_governance.fn_refusal_record(%s, '', %s, %s, %s)", (run_id, text, text, text), role="cutter_read"
    )
    return of_run(made, run_id)


def worker(made: Deployment, text: str) -> Written:
    name = f"{uuid_utils.uuid4()} {text}"[:100]
    made.database.value(
        "select cutter_governance.fn_worker_beat(%s, %s, 10, '[]', 'initializing')",
        (name, text[:100]),
        role="cutter_verify",
    )
    shown = (("workers",), ("workers", "--all"), ("transitions", "export"))
    return Written(shown=shown, desk=("/inbox",))


def batch(made: Deployment, text: str) -> Written:
    """A batch that was halted, whose document waits in a queue; both reasons and the code are the text."""
    name = made.register("Only words, and no heading.\n")
    options = Options(items_max=10)
    with connect(made.settings, Role.OPERATOR) as connection:
        admission = batch_rows.admit(connection, queue_yaml([{"document_id": name}]), options)
        caps = asdict(caps_of(made.settings))
        batch_id = batch_rows.register(connection, admission, options, run_caps=caps, starter=text[:100])[0]
    run_id = made.begin(name)
    made.database.run("update cutter_governance.run set batch_id = %s where run_id = %s", (batch_id, run_id))
    for gate in ("IG_source_pin", "IG_mark"):
        made.gate(gate, run_id)
    call = made.database.value
    call("select cutter_governance.fn_batch_halt(%s, 'stop', %s)", (batch_id, text), role="cutter_operator")
    call(
        "select cutter_governance.fn_batch_item_decide(%s, %s, 'blocked', %s)",
        (batch_id, name, text),
        role="cutter_read",
    )
    sidecar = run_rows.sidecar(made.settings, run_id)
    entry = documents.error_entry(
        Triage(
            run_id=run_id, document_id=name, state="failed_mark", gate=text, code=text, error={"reason": text},
            sidecar=render_state(replace(sidecar, run=replace(sidecar.run, last_error={"reason": text}))).decode(),
            advice=disposition(StepFacts(run_id="R", document_id="D", state="failed_mark"), text), reproduction=text,
            remedy=Step(needs=Needs.CORRECTION, commands=(text,)),
        )
    )  # fmt: skip
    kb_id = documents.entry_id(batch_id, "error_queue", name, 1)
    call(
        "select cutter_governance.fn_queue_enter(%s, %s, 'error_queue', 'failed_mark', %s, %s, %s, %s)",
        (batch_id, name, text, text, kb_id, entry), role="cutter_read",
    )  # fmt: skip
    view = views.view(
        views.item(name, decided="blocked", reason=text), batch_id=batch_id, policy="strict", created_by=text,
        halted="stop", halted_reason=text,
    )  # fmt: skip
    listed = documents.QueueLine(document_id=name, queue="error_queue", state="failed_mark", code=text, kb_id=kb_id)

    def rendered() -> Iterator[str]:
        yield documents.batch_report(view, batch_step.summarise(view, attended=True))
        yield documents.queue_summary(view, "error_queue", [listed])
        yield documents.review_entry(
            batch_id=batch_id, run_id=run_id, document_id=name, state="paused", gate="SG_cut_authz", reason=text,
            payload={text: text}, request_kb_id=kb_id, approval_kb_id=kb_id,
        )  # fmt: skip
        yield documents.error_entry(
            Triage(
                run_id=run_id, document_id=name, state="failed_mark", gate=text, code=text, error={"reason": text},
                sidecar=json.dumps({"reason": text}, indent=2, ensure_ascii=False),
                advice=disposition(StepFacts(run_id="R", document_id="D", state="failed_mark"), text),
                reproduction=text, remedy=Step(needs=Needs.CORRECTION, commands=(text,)),
            )
        )  # fmt: skip

    shown = (("status", batch_id), ("queues",), ("report", batch_id))
    desk = ("/batches", f"/batches/{batch_id}", "/queues", f"/queues/{run_id}")
    return Written(shown=shown, documents=rendered, desk=desk)


def enacted_law(made: Deployment, text: str) -> Written:
    """A law of two versions. A text of a law may have lines of its own, so this one is written as one line."""
    if made.database.value("select count(*) from api.law_version") == 0:
        for version in (law(2), law(2, word="words")):
            made.register(version, document_id=LAW)
            drive(made, document_id=LAW)
    with unchecked(made.database, "public.unit_version", "public.source_version"):
        made.database.run(_HOSTILE_UNITS, {"text": text.replace("\n", " ")})
        made.database.run(_HOSTILE_VERSIONS, {"text": text})
    page, unit = f"/laws/{LAW}", f"{LAW}/ARTICLE-1"
    shown = (
        ("list",), ("show", LAW), ("tree", LAW), ("history", LAW), ("history", LAW, "ARTICLE-1"), ("diff", LAW),
        ("search", "article"),
    )  # fmt: skip
    desk = (page, f"{page}/text", f"{page}/history", f"{page}/diff", f"{page}/units/{unit}", "/laws")
    return Written(shown=tuple(("law", *words) for words in shown), desk=(*desk, "/search?words=article"))


LAW = "ICX-P28-LAW"
_HOSTILE_UNITS: LiteralString = """
update public.unit_version set title = %(text)s, body = new.body,
    content_hash = encode(sha256(convert_to(new.body, 'UTF8')), 'hex')
from (select id, 'of article ' || version_seq || %(text)s as body from public.unit_version) as new
where new.id = unit_version.id
"""
_HOSTILE_VERSIONS: LiteralString = """
update public.source_version set change_kind = 'correction', change_reason = %(text)s,
    provenance = provenance || jsonb_build_object('title', %(text)s::text)
"""


INPUTS: dict[str, Callable[[Deployment, str], Written]] = {
    "starter": starter, "stop": stop, "gate refusal": refusal, "message": message, "worker": worker, "batch": batch,
    "enacted law": enacted_law,
}  # fmt: skip


# --- outputs ----------------------------------------------------------------------------------------------------------


def printed(words: tuple[str, ...], stream: io.StringIO) -> str:
    """What a command writes to both streams. It must not fail: an error shows nothing and would hide a leak."""
    with redirect_stdout(stream), redirect_stderr(stream):
        code = command(list(words))
    assert code in (0, *([5] if words[0] == "workers" else [])), f"{words}: exit {code}: {stream.getvalue()}"
    return stream.getvalue()


WAYS: tuple[tuple[str, type[io.StringIO], tuple[str, ...]], ...] = (
    ("pipe", io.StringIO, ()), ("terminal", Screen, ()), ("JSON", io.StringIO, ("--json",)),
)  # fmt: skip


def found(made: Deployment, app: FastAPI, written: Written, text: str) -> list[str]:
    """The outputs of one trial in which something of its text is hidden or active; "nowhere" when none shows it."""
    own, leaking, shown = set(leaks(text)), [], False
    for words in written.shown:
        for way, stream, more in WAYS:
            output = OURS.sub("", printed((*words, *more), stream()))
            shown = shown or not own or any(f"⟨{code}⟩" in output for code in own)
            if own & set(leaks(output)) or _FAKE_LINE.search(output):
                leaking.append(f"{words[0]}, {way}")
    for path in written.desk:
        for way in ("page", "JSON"):
            answer = desks.in_process(app, path, as_json=way == "JSON")
            assert answer.status == HTTPStatus.OK, (path, answer)
            shown = shown or any(f"⟨{code}⟩" in answer.text for code in own)
            if own & set(leaks(answer.text)):
                leaking.append(f"desk, {way}")
    for document in written.documents():
        if own & set(leaks(document)) or live(document) or bare_addresses(document.split("\n")):
            leaking.append("document")
    for page in made.settings.state.rglob("*.html"):
        if own & set(leaks(page.read_text(encoding="utf-8"))):
            leaking.append("page")
        page.unlink()
    return sorted(set(leaking)) if leaking or shown else ["nowhere: no output shows the text"]


@contextmanager
def nothing_escaped() -> Iterator[None]:
    """The control arm: each of the escaping functions gives back what it was given."""

    def same(text: Any) -> Any:
        return text

    def plain_json(value: Any, *, indent: int | None = None, sort_keys: bool = True) -> str:
        return json.dumps(value, indent=indent, sort_keys=sort_keys, default=str, ensure_ascii=False)

    functions: dict[str, Any] = {
        "visible": same, "visible_line": same, "json_visible": same, "json_text": plain_json, "escape": same,
        "prose": same, "cell": same, "code": same, "span": same,
    }  # fmt: skip
    modules = (
        "starter.console.terminal", "starter.console.watch", "starter.commands.workers", "cutter.projections.report",
        "cutter.projections.stop_route", "cutter.batch.documents", "cutter.projections.state_file",
        "cutter.domain.markdown", "cutter.projections.desk_pages", "starter.desk.answers",
    )  # fmt: skip
    with ExitStack() as exits:
        for module in modules:
            for name, function in functions.items():
                target = f"{module}.{name}"
                if _has(module, name):
                    exits.enter_context(mock.patch(target, function))
        yield


def _has(module: str, name: str) -> bool:
    return hasattr(__import__(module, fromlist=[name]), name)


@contextmanager
def environment(made: Deployment) -> Iterator[None]:
    """The settings of the deployment, for commands that are called in this process."""
    ours = {
        "CUTTER_STATE_DIR": str(made.settings.state), "CUTTER_DATABASE_URL": str(made.settings.database_url),
        "CUTTER_SECRETS_DIR": str(made.settings.secrets), "CUTTER_KEYS_DIR": str(made.settings.keys),
        "CUTTER_TEMPORAL_ADDRESS": NOBODY, "TERM": "xterm-256color", "COLUMNS": "220",
    }  # fmt: skip
    with mock.patch.dict(os.environ, ours):
        yield


def trial(made: Deployment, app: FastAPI, name: str, kind: str, number: int) -> Json:
    """One text through one input, judged with the escaping and without it."""
    text = STRINGS[name]
    ours = found(made, app, INPUTS[kind](made, text), text)
    with nothing_escaped():
        control = found(made, app, INPUTS[kind](made, text), text)
    return {"trial": number, "text": name, "input": kind, "leaks": ours, "control": control}


def run(
    *, strings: int, seed: int, out: Path | None = None, database: Database | None = None, keys: Keys | None = None
) -> Summary:
    """So many of the texts, chosen by the seed, each through every input."""
    with ExitStack() as exits:
        if database is None or keys is None:
            server = exits.enter_context(own_cluster())
            keys = exits.enter_context(keyring())
            database = exits.enter_context(server.database(prefix="p28"))
        made = exits.enter_context(deployment(database, keys))
        exits.enter_context(environment(made))
        app = exits.enter_context(desks.pages(made.settings))
        rows = []
        for name in chosen(strings, seed):
            for kind in INPUTS:
                # What a trial before left in lists of all runs and workers is not this trial's.
                database.run("truncate cutter_governance.worker_heartbeat")
                rows.append(trial(made, app, name, kind, len(rows)))
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows)


def chosen(strings: int, seed: int) -> list[str]:
    """That many names of texts in an order of the seed's, those of terminals and of documents in turn."""
    dice, kinds = Dice(seed, "p28"), [list(TERMINAL), [name for name in STRINGS if name not in TERMINAL]]
    names: list[str] = []
    while len(names) < strings and any(kinds):
        kind = next(kind for kind in (kinds[len(names) % 2], *kinds) if kind)
        names.append(kind.pop(dice.below(len(kind))))
    return names


def summary(rows: list[Json]) -> Summary:
    """A leak is a failure; the control arm counts the trials that leak without the escaping."""
    counts = Counter(f"without escaping, {kind} leaks at: {where}" for row in rows for kind in [row["input"]]
                     for where in row["control"])  # fmt: skip
    counts.update(f"LEAK of {row['text']} by {row['input']} at {where}" for row in rows for where in row["leaks"])
    return Summary(
        name="P28 hostile texts", n=len(rows), failures=sum(bool(row["leaks"]) for row in rows),
        control=sum(bool(row["control"]) for row in rows), control_n=len(rows), counts=counts,
    )  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P28", strings=20))
