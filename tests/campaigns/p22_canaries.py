"""IO: P22: words that stand nowhere else, put into every input and every error path; then everything is searched.

    python -m tests.campaigns.p22_canaries --out p22.jsonl

One law carries a canary in each place that a text has and goes to its end, its worker killed on the way; others carry
one and are refused, each for another reason, in a batch; approvals carry one in their text, their form or their
signature; and the passwords are canaries as they are. Then histories, search attributes, answers to queries, the files
of Temporal, logs, what commands print, run and batch folders, the knowledge base and every temporary file that was
seen are searched. A law's words may be in its snapshot and in the requests that people sign, and what people signed
in the evidence.

The control arm puts one more word into each of these places: the search must find it in all.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from cutter.approvals import schema
from cutter.approvals.statement import render
from cutter.gpg import Gpg
from cutter.kb.ids import signature_of
from starter.approver import signing_desk
from starter.commands import demo
from tests.cases import canary_cases as cases
from tests.cases.approval_cases import raw_gpg
from tests.cases.canary_cases import LAW, word
from tests.cases.kill_moments import MOMENTS, come
from tests.cases.trials import Summary, command_line, write_lines
from tests.support.batch import queue_yaml
from tests.support.left_texts import decoded, files
from tests.support.processes import CUTTER_WORKER, Stack, kill, stack, wait

WAIT_SECONDS = 240
CUT, LIFECYCLE, DONE = "awaiting_cut_authorization", "awaiting_lifecycle_authorization", "closeout_reported"
QUERIES = ("status", "request", "__temporal_workflow_metadata")

SINKS = ("histories", "search attributes and queries", "Temporal's files", "logs", "printed", "temporary files",
         "run folders", "knowledge base")  # fmt: skip
PLACES = {"logs": "logs", "temporal": "Temporal's files", "t": "temporary files", "kb": "knowledge base"}
"""Folder of the state → sink; all others are run folders."""

UNSEARCHED = ("postgres", "secrets", "demo", "keys")
"""Where the law itself, the passwords and the keys are kept."""

_WORD = re.compile(rb"zq[0-9a-f]{10}", re.IGNORECASE)


@dataclass(slots=True)
class Search:
    """What was found: (canary, sink) → where first. `secrets`: the stack's passwords and their names."""

    secrets: dict[bytes, str] = field(default_factory=dict)
    seen: dict[tuple[str, str], str] = field(default_factory=dict)
    searched: Counter[str] = field(default_factory=Counter)

    def look(self, sink: str, data: bytes | str, where: str, *, allowed: frozenset[str] = frozenset()) -> None:
        """Remember every canary in the bytes but the allowed ones; case counts for nothing."""
        data = data.encode() if isinstance(data, str) else data
        self.searched[sink] += 1
        names = {cases.CANARIES.get(canary.lower(), "") for canary in _WORD.findall(data)} - {""}
        names |= {name for secret, name in self.secrets.items() if secret in data}
        for name in names - allowed:
            self.seen.setdefault((name, sink), where)


# --- what is put in ---------------------------------------------------------------------------------------------------


@dataclass(slots=True, kw_only=True)
class Play:
    """The stack, the folder of what people type and sign, and what went otherwise than it must."""

    stack: Stack
    desk: Path
    run_id: str = ""
    put: set[str] = field(default_factory=set)
    printed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def inputs(self) -> None:
        """Every law, every approval, every mistake."""
        self._add(LAW, cases.TEXT, cases.TEXT_OPTIONS)
        self.run_id = self.stack.json("run", LAW)["run_id"]
        come(self.stack, self.run_id, MOMENTS[0])
        kill(self.stack.process(CUTTER_WORKER))
        self.stack.up()
        self._until(CUT)
        self._bad_approvals()
        self._approve()
        self._refused_laws()
        self._secrets()
        self._until(LIFECYCLE)
        self._approve()
        self._until(DONE)
        if not self.stack.value("select count(*) from public.unit_version where body like %s",
                                (f"%{word('article body')}%",)):  # fmt: skip
            self.problems.append("the law does not stand in the database, so it could be found nowhere")

    def _cutter(self, *typed: str, env: dict[str, str] | None = None) -> bool:
        done = self.stack.cutter(*typed, env=env, seconds=WAIT_SECONDS)
        self.printed += [done.stdout, done.stderr]
        return done.returncode == 0

    def _add(self, name: str, text: str, options: Sequence[str]) -> bool:
        file = self.desk / f"{name}.md"
        file.write_bytes(cases.filled(text))
        profile = () if "--profile" in options else ("--profile", "generic-markdown")
        add = ("source", "add", str(file), "--document-id", name, *profile, *options)
        return self._cutter(*add) or self._cutter(*add, "--force")

    def _until(self, state: str) -> None:
        wait(lambda: self.stack.waits_in(self.run_id) == state, seconds=WAIT_SECONDS, what=f"{LAW} {state}")

    def _approve(self) -> None:
        """Signed, with a canary in its free text and one in the signature's armor."""
        statement, who, kb_id = self._statement(cases.ACCEPTED[0])
        first, rest = Gpg(who.home).sign_detached(statement, who.fingerprint).split(b"\n", 1)
        self._hand_over(kb_id, statement, first + f"\nComment: {word(cases.ACCEPTED[1])}\n".encode() + rest)

    def _statement(self, canary: str) -> tuple[bytes, signing_desk.Signing, str]:
        """An approval of what is asked, who signs it and where it belongs."""
        settings = self.stack.settings
        document, data = signing_desk.read_request(
            settings, self.run_id, signing_desk.open_request(settings, self.run_id)
        )
        who = signing_desk.who(settings, demo.APPROVER, None, self.stack.approver())
        statement = signing_desk.answer(document, data, who, schema.APPROVE, text=f"I have read it. {word(canary)}\n")
        return render(statement), who, document.approval_kb_id

    def _hand_over(self, kb_id: str, body: bytes, signature: bytes) -> None:
        for name, data in ((signature_of(kb_id), signature), (kb_id, body)):
            path = self.stack.state / "kb" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            self.put.add(f"kb/{name}")
        self.stack.signal(LAW, kb_id)

    def _bad_approvals(self) -> None:
        """Each is refused; its canary stands in the document that people put, and in no other place."""
        body, who, _ = self._statement(cases.ACCEPTED[0])
        home, key = Gpg(who.home), who.fingerprint
        good = home.sign_detached(body, key)
        mark = {name: word(name).encode() for name in cases.BAD_APPROVALS}
        bodies = {
            "unknown field": body.replace(b"decision:", b"other: " + mark["unknown field"] + b"\ndecision:", 1),
            "broken front matter": b"---\nschema: [" + mark["broken front matter"] + b"\n---\n" + body,
            "oversized statement": body + mark["oversized statement"] + b"x" * 70_000,
            "statement in latin": body + mark["statement in latin"] + b" \xe9\n",
        }
        made = [(text, home.sign_detached(text, key)) for text in bodies.values()]
        clear = raw_gpg(home, "--local-user", key, "--clearsign", "-", stdin=mark["clear signature"] + b"\n")
        made += [
            (body + mark["text behind the signature"], good), (clear, good), (body, mark["what is no signature"])
        ]  # fmt: skip
        for number, (text, signature) in enumerate(made):
            self._hand_over(f"knowledge/dev/canaries/{number}.md", text, signature)
        wait(lambda: self._refusals() >= len(made), seconds=WAIT_SECONDS, what="the refusal of each bad approval")

    def _refusals(self) -> int:
        query = "select count(*) from cutter_governance.approval_verdict where run_id = %s and not accepted"
        return int(self.stack.value(query, (self.run_id,)))

    def _refused_laws(self) -> None:
        """Those that the command takes go as a batch, in which each fails; it sets them aside and reports them."""
        taken = [name for name, (text, options) in cases.REFUSED.items() if self._add(f"CANARY-{name}", text, options)]
        queue = self.desk / "queue.yaml"
        queue.write_bytes(queue_yaml([{"document_id": f"CANARY-{name}"} for name in taken]))
        self._cutter("orchestrate", "batch", "--queue", str(queue), "--quarantine", "--wait")
        query = "select state from cutter_governance.run where document_id <> %s"
        states = [row["state"] for row in self.stack.rows(query, (LAW,))]
        if not taken or len(states) != len(taken) or not all(state.startswith("failed_") for state in states):
            self.problems.append(f"of {len(taken)} laws to be refused by a gate the runs are {states}")

    def _secrets(self) -> None:
        """A password where none belongs: in the database's address, in a queue."""
        address = f"postgresql://someone:{word(cases.SECRETS[0])}@127.0.0.1:9/cutter"
        queue = self.desk / "secret.yaml"
        queue.write_text(queue_yaml([{"document_id": LAW}]).decode() + f"password: {word(cases.SECRETS[1])}\n")
        for command in ("status", "doctor"):
            self._cutter(command, env={"CUTTER_DATABASE_URL": address})
        if self._cutter("orchestrate", "batch", "--queue", str(queue)):
            self.problems.append("a queue with a password was taken")


# --- what is searched -------------------------------------------------------------------------------------------------


def search(play: Play, kept_files: Path) -> Search:
    """Every place, once."""
    state = play.stack.state
    finds = Search({path.read_bytes().strip(): path.stem for path in (state / "secrets").glob("*.password")})
    _search_temporal(play.stack, finds)
    for text in play.printed:
        # Who types a law's name is shown what is wrong with it, in its own words.
        finds.look("printed", text, "a command's output", allowed=cases.LAWS)
    for path in files(state):
        inside = path.relative_to(state)
        if inside.parts[0] in UNSEARCHED or "secrets" in inside.parts or str(inside) in play.put:
            continue
        with suppress(FileNotFoundError):
            sink = PLACES.get(inside.parts[0], "run folders")
            finds.look(sink, path.read_bytes(), str(inside), allowed=allowed(inside))
    for path in files(kept_files):
        finds.look("temporary files", path.read_bytes(), path.name)
    return finds


def allowed(inside: Path) -> frozenset[str]:
    """What may stand in a file of the state folder."""
    if inside.parts[0] == "kb" and ("snapshot" in inside.name or "request" in inside.name):
        return cases.LAWS
    return cases.APPROVALS if "evidence" in str(inside) else frozenset()


def _search_temporal(made: Stack, finds: Search) -> None:
    listed = made.temporal("workflow", "list", "-o", "json").stdout
    finds.look("search attributes and queries", listed, "list")
    for each in json.loads(listed):
        which = ("-w", each["execution"]["workflowId"], "-r", each["execution"]["runId"])
        shown = made.temporal("workflow", "show", *which, "-o", "json").stdout
        for text in (shown, *decoded(json.loads(shown))):
            finds.look("histories", text, which[1])
        asked = [made.temporal("workflow", "describe", *which, "-o", "json").stdout]
        # Nobody serves the control's workflow, so a query of it would be waited for in vain.
        queries = () if each["type"]["name"] == CONTROL else QUERIES
        asked += [made.temporal("workflow", "query", *which, "--name", query, code=None).stdout for query in queries]
        for text in asked:
            for part in (text, *_decoded_text(text)):
                finds.look("search attributes and queries", part, which[1])


def _decoded_text(text: str) -> list[str]:
    with suppress(ValueError):
        return list(decoded(json.loads(text)))
    return []


@contextmanager
def kept(folder: Path, into: Path) -> Iterator[None]:
    """Keep every file that appears below a folder, also one that is gone a moment later, by a second name for it."""
    over = threading.Event()
    known: set[int] = set()

    def watch() -> None:
        while not over.wait(0.002):
            for path in files(folder):
                with suppress(OSError):
                    number = path.stat().st_ino
                    if number not in known:
                        os.link(path, into / f"{number}-{path.name}"[:200])
                        known.add(number)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# --- both arms --------------------------------------------------------------------------------------------------------


CONTROL = "Control"
"""Type of a workflow that holds a canary and that nobody serves."""

PLANTED = cases.SECRETS[0]
"""No place may hold it."""


def plant(play: Play, kept_files: Path) -> None:
    """The control: a word in each place, which a leak would put there."""
    text, state = word(PLANTED), play.stack.state
    play.stack.temporal(
        *("workflow", "start", "--type", CONTROL, "--task-queue", "nowhere", "-w", "control"),
        *("--input", json.dumps(text), "--search-attribute", f"CutterDocumentId={json.dumps(text)}"),
    )
    for path in (state / "logs" / "worker-cutter.log", state / "runs" / play.run_id / "state.json"):
        with path.open("a") as file:
            file.write(f"\n{text}\n")
    (state / "kb" / "knowledge" / "control.md").write_text(text)
    play.printed.append(text)
    passing = state / "t" / "control"
    passing.write_text(text)
    wait(lambda: list(kept_files.glob("*-control")), seconds=10, what="a second name for a passing file")
    passing.unlink()


def run(*, seed: int, out: Path | None = None) -> Summary:
    """The campaign on a stack of its own; the seed changes nothing, since every canary is in every place each time."""
    with tempfile.TemporaryDirectory(prefix="c3", dir="/tmp") as beside, stack("c2") as made:
        temporary, desk, keep = made.state / "t", Path(beside) / "desk", Path(beside) / "kept"
        for folder in (temporary, desk, keep):
            folder.mkdir()
        made.environment["TMPDIR"] = str(temporary)
        play = Play(stack=made, desk=desk)
        with kept(temporary, keep):
            made.up()
            made.approver()
            play.inputs()
            finds = search(play, keep)
            plant(play, keep)
            control = search(play, keep)
    rows = [{"canary": name, "sink": sink, "where": where} for (name, sink), where in finds.seen.items()]
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(finds, play.problems, control={sink for name, sink in control.seen if name == PLANTED})


def summary(finds: Search, problems: Sequence[str], *, control: set[str]) -> Summary:
    """A failure is a canary in a place, or an input that took another way than it should."""
    result = Summary(
        name="P22 canaries", n=len(cases.CANARIES) + len(finds.secrets), failures=len(finds.seen) + len(problems),
        control=len(control) if control == set(SINKS) else 0, control_n=len(SINKS),
    )  # fmt: skip
    result.counts = Counter({f"searched: {sink}": count for sink, count in finds.searched.items()})
    result.counts.update(f"FOUND: {name} in {sink}: {where}" for (name, sink), where in finds.seen.items())
    result.counts.update(f"PROBLEM: {problem}" for problem in problems)
    result.counts.update(f"not found by the control: {sink}" for sink in SINKS if sink not in control)
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P22: canaries"))
