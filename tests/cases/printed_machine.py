"""IO: the commands of the README and the runbooks, and those that start and end processes, on a machine of its own.

What a page says is typed in its order by a shell, in the state that the page is about. Names that are a person's to
replace are replaced; nothing else is. Each command leaves its exit code.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import uuid_utils

from cutter.gpg import Gpg
from cutter.types import Json
from tests.support import batch as support
from tests.support.laws import law
from tests.support.printed import scripts_printed
from tests.support.processes import ROOT, Stack, wait

WORKS, REFUSED, UNREACHED = "works", "refused", "state was not reached"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
LAW = "ICX-LAW-2026-001"
GOOD = (0, 3)
"""Done, or a person is waited for."""
NOTICES = ("workers", "doctor")
"""Their exit code tells what they found."""

SIGNED = ("approve", "reject", "revoke", "void")
"""They ask before they sign."""

SERVED_SECONDS = 20
"""A person closes the desk after this time. If it ends earlier, its own exit code counts."""

SHELL = """
cutter() {{
  local until_stopped=()
  case "$1" in {signed}) set -- "$@" --yes;; desk) until_stopped=(timeout --signal=INT {served});; esac
  case "$1 $2" in "approvers sign") set -- "$@" --yes;; esac
  "${{until_stopped[@]}}" "{python}" -m starter.cli "$@" >"$DESK/said" 2>&1; code=$?
  if [ "$1" = desk ] && [ "$code" = 124 ]; then code=0; fi
  cat "$DESK/said"; printf '%s\\t%s\\n' "$code" "$*" >>"$DESK/typed"
}}
"""


@dataclass(slots=True, kw_only=True)
class Desk:
    """A folder with `.cutter` in it, where a person works with one key; what was typed there so far."""

    folder: Path
    key: str
    rows: list[Json] = field(default_factory=list)

    @property
    def stack(self) -> Stack:
        return Stack(state=self.folder / ".cutter", environment={"GNUPGHOME": str(self.folder / "gnupg")})

    def page(self, name: str, heading: str = "") -> list[str]:
        """The blocks of a page, of one section where a heading is given."""
        text = (ROOT / name).read_text(encoding="utf-8")
        section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0] if heading else text
        blocks = [block for language, block in BLOCK.findall(section) if language in ("", "sh")]
        return [block for block in blocks if re.search(r"^cutter ", block, re.M)]

    def shell(self, state: str, block: str, words: Mapping[str, str] | None = None, **env: str) -> str:
        """Type a block; a row for each command of it. Returns what was printed."""
        for shown, own in {"YOUR_KEY": self.key, "NEW_KEY": self.key, "TEXT": "right", **(words or {})}.items():
            block = re.sub(rf"\b{shown}\b", own, block)
        log = self.folder / "typed"
        log.unlink(missing_ok=True)
        typing = SHELL.format(python=sys.executable, signed="|".join(SIGNED), served=SERVED_SECONDS)
        done = subprocess.run(
            ["bash", "-c", typing + block], cwd=self.folder, text=True, check=False,
            capture_output=True, timeout=600, stdin=subprocess.DEVNULL,
            env=self.stack.shell({"DESK": str(self.folder), "PYTHONPATH": str(ROOT), **env}),
        )  # fmt: skip
        for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
            code, _, command = line.partition("\t")
            self.note(state, f"the page for {state}", f"cutter {command}", int(code), done.stdout + done.stderr)
        return done.stdout

    def note(self, state: str, asked: str, command: str, code: int, output: str) -> None:
        """A row for a command that was typed."""
        good = code in GOOD or command.split()[1] in NOTICES
        self.rows.append({
            "state": state, "asked": asked, "command": command, "verdict": WORKS if good else REFUSED, "code": code,
            "said": "" if good else output[-400:],
        })  # fmt: skip

    def told(self, chapter: Callable[[Desk], None]) -> None:
        """A chapter of the story; one that breaks off leaves a row, and the others are told all the same."""
        try:
            chapter(self)
        except Exception as problem:
            why = f"{type(problem).__name__}: {problem}"[:400]
            self.rows.append({"state": chapter.__name__, "command": "", "verdict": UNREACHED, "code": 1, "said": why})

    def printed(self, state: str, *asks: str, skip: str = "") -> None:
        """Type what people ask, then each command that was printed."""
        scripts = {}
        for ask in asks:
            answer = self.stack.cutter(*shlex.split(ask))
            scripts |= dict.fromkeys(scripts_printed(answer.stdout, answer.stderr), ask)
        for script, ask in scripts.items():
            for command in script:
                if not re.search(r"\b(FILE|NAME|DOCUMENT)\b|--watch", command) and not (skip and skip in command):
                    words = ["a reason" if word == "TEXT" else word for word in shlex.split(command)[1:]]
                    done = self.stack.cutter(*words, *(["--yes"] if words[0] in SIGNED else []))
                    self.note(state, f"cutter {ask}", command, done.returncode, done.stderr)

    def add(self, document_id: str, number: int) -> None:
        self.stack.add(document_id, law(number))

    def waits(self, document_id: str) -> str:
        """A run that waits for its first signature; its id."""
        return str(self.stack.json("run", document_id, "--wait", code=3)["run_id"])


@contextmanager
def desk() -> Iterator[Desk]:
    """A folder on a short path, taken down and removed at the end."""
    with tempfile.TemporaryDirectory(prefix="cp", dir="/tmp", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        people = Gpg(folder / "gnupg")
        made = Desk(folder=folder, key=people.generate_key("me"))
        try:
            yield made
        finally:
            made.stack.down()
            people.stop_agent()


def play() -> list[Json]:
    """The story of a machine: nothing runs, a law of one's own, many laws, a night, the runbooks, and down."""
    with desk() as machine:
        machine.printed("nothing runs", "status", "doctor", "inbox", "workers", "queues", "run NOPE", "law show")
        machine.stack.down()
        for chapter in (a_law, many_laws, a_night, *RUNBOOKS):
            machine.told(chapter)
        machine.printed("everything runs", "status", "doctor", "up", "workers", "law show")
        machine.shell("the end", "cutter down\n")
        machine.printed("everything is down", "status", "doctor", "workers", "down", skip="cutter down")
        return machine.rows


def a_law(machine: Desk) -> None:
    """README, "Cut your own law"."""
    (machine.folder / "law.md").write_text(law(3), encoding="utf-8")
    (block,) = machine.page("README.md", "Cut your own law")
    typed = [line for line in block.splitlines() if not line.startswith(("make ", "cutter down"))]
    first = next(number for number, line in enumerate(typed) if line.startswith("cutter approve "))
    machine.shell("a law of your own", "\n".join(typed[:first]))
    # The second signature is for the second request, which is there a moment after the first was given.
    machine.shell("a law of your own", typed[first])
    until_state(machine, LAW, "awaiting_lifecycle_authorization")
    machine.shell("a law of your own", typed[first + 1])
    until_state(machine, LAW, "closeout_reported")
    machine.shell("a law of your own", "\n".join(typed[first + 2 :]))


def until_state(machine: Desk, document_id: str, state: str) -> None:
    def there() -> bool:
        run_id = machine.stack.json("status", document_id)["run_id"]
        return machine.stack.waits_in(run_id) == state

    wait(there, seconds=120, what=f"{document_id} is {state}")


def queue(machine: Desk, name: str, *documents: str) -> str:
    """A queue file of these documents, registered; the batch's id."""
    batch_id = str(uuid_utils.uuid7())
    (machine.folder / name).write_bytes(support.queue_yaml([{"document_id": each} for each in documents], batch_id))
    return batch_id


def until_batch(machine: Desk, batch_id: str, *states: str) -> None:
    def there() -> bool:
        state = machine.stack.value("select state from cutter_governance.batch where batch_id = %s", (batch_id,))
        waits: Any = machine.stack.value(
            "select count(*) from cutter_governance.outbox o join cutter_governance.run r using (run_id)"
            " where r.batch_id = %s and o.done_at is null", (batch_id,)
        )  # fmt: skip
        return state in states and waits == 0

    wait(there, seconds=180, what=f"the batch is {states}")


def many_laws(machine: Desk) -> None:
    """README, "Cut many laws", and how the guide stops and resumes them."""
    for number in (2, 3):
        machine.add(f"ICX-LAW-2026-00{number}", number + 3)
    batch_id = queue(machine, "queue.yaml", "ICX-LAW-2026-002", "ICX-LAW-2026-003")
    blocks = [*machine.page("README.md", "Cut many laws"), *machine.page("docs/guides/batch.md", "Stop and resume")]
    lines = {line.partition("#")[0].strip() for block in blocks for line in block.splitlines()}
    state, words = "many laws at once", {"BATCH": batch_id}

    def typed(*parts: str) -> None:
        chosen = next(line for line in lines if all(part in line for part in parts))
        machine.shell(state, chosen.replace("--watch", ""), words)

    typed("--check")
    typed("--quarantine")
    until_batch(machine, batch_id, "batch_awaiting_cut_authz_set")
    for part in ("cutter status", "cutter queues", "cutter report"):
        typed(part)
    machine.shell(state, machine.page("docs/concepts/tenants.md")[0])
    typed("cutter approve --batch")
    until_batch(machine, batch_id, "batch_awaiting_lifecycle_authz_set")
    typed("cutter stop")
    until_batch(machine, batch_id, "batch_failed_partial")
    typed("--skip-completed")
    machine.printed(state, f"status {batch_id}", "queues", skip="approve")
    machine.shell(state, f"cutter orchestrate resume-batch --batch-id {batch_id}\n")


def a_night(machine: Desk) -> None:
    """The guide to the night: rehearsed and signed in the afternoon, then started."""
    for number in (4, 5):
        machine.add(f"ICX-LAW-2026-00{number}", number + 3)
    batch_id = queue(machine, "night.yaml", "ICX-LAW-2026-004")
    queue(machine, "overnight.yaml", "ICX-LAW-2026-005")
    for block in machine.page("docs/guides/overnight.md"):
        machine.shell("a night", block, {"BATCH": batch_id})


def typed_page(machine: Desk, name: str, words: Mapping[str, str], *, blocks: slice = slice(None)) -> None:
    for block in machine.page(f"docs/runbooks/{name}.md")[blocks]:
        machine.shell(f"runbook {name}", block, words)


def stuck(machine: Desk) -> None:
    machine.add("ICX-STUCK-1", 11)
    machine.waits("ICX-STUCK-1")
    typed_page(machine, "stuck-run", {LAW: "ICX-STUCK-1"}, blocks=slice(0, 2))
    machine.shell("runbook stuck-run", "cutter reconcile --every 0\n")


def expired(machine: Desk) -> None:
    machine.add("ICX-EXPIRED-1", 12)
    done = machine.stack.cutter("run", "ICX-EXPIRED-1", "--json", env={"CUTTER_TTL_SG1_HOURS": LIFE_HOURS})
    assert done.returncode == 0, done.stderr
    until_state(machine, "ICX-EXPIRED-1", "stopped_expired")
    run_id = machine.stack.json("status", "ICX-EXPIRED-1")["run_id"]
    for line in machine.page("docs/runbooks/expired-approval.md")[0].splitlines():
        machine.shell("runbook expired-approval", line, {"RUN": run_id})
        if "resume" in line:
            until_state(machine, "ICX-EXPIRED-1", "awaiting_cut_authorization")


LIFE_HOURS = "0.006"
"""Of a request that is let expire; the one after it has the same, and is signed within it."""


def drifted(machine: Desk) -> None:
    machine.add("ICX-DRIFT-1", 13)
    run_id = machine.waits("ICX-DRIFT-1")
    with psycopg.connect(machine.stack.superuser(), autocommit=True) as owner:
        owner.execute("alter table public.unit_version add column by_the_owner integer")
        try:
            machine.shell("runbook drift", f"cutter approve {run_id}\n")
            until_state(machine, "ICX-DRIFT-1", "stopped_drift_tables")
            typed_page(machine, "drift", {LAW: "ICX-DRIFT-1"}, blocks=slice(0, 2))
        finally:
            owner.execute("alter table public.unit_version drop column by_the_owner")


def lost_key(machine: Desk) -> None:
    for secret in machine.stack.state.glob("keys/executor/private-keys-v1.d/*"):
        secret.unlink()
    typed_page(machine, "lost-key", {}, blocks=slice(0, 1))
    machine.add("ICX-KEY-1", 14)
    machine.waits("ICX-KEY-1")
    typed_page(machine, "lost-key", {"RUN/pre_write.gpg": "ICX-KEY-1"}, blocks=slice(2, 3))


def rotated(machine: Desk) -> None:
    other = Gpg(machine.folder / "an")
    key = other.generate_key("an")
    Gpg(machine.folder / "gnupg").import_key(other.export_key(key))
    other.stop_agent()
    typed_page(machine, "rotate-approver", {"NEW_KEY": key})


def restored(machine: Desk) -> None:
    page = machine.page("docs/runbooks/restore.md")
    machine.shell("runbook restore", page[0], {"DOCUMENT": LAW})
    look = page[1].replace(".venv/bin/python", sys.executable)
    machine.shell("runbook restore", look, {"DOCUMENT": LAW}, PATH=f"{ROOT}/.venv/bin:{os.environ['PATH']}")


def drained(machine: Desk) -> None:
    for block in machine.page("docs/runbooks/drain.md"):
        machine.shell("runbook drain", block)
    machine.shell("runbook drain", "cutter up\n")


RUNBOOKS = (stuck, expired, drifted, lost_key, rotated, restored, drained)
"""Each page in the state that it is about; the upgrade has an acceptance test of its own."""
