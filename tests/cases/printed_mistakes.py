"""IO: what people mistype, and what the product answers to it."""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack
from pathlib import Path

import uuid_utils
from psycopg import sql

from cutter.notifications.slack import TOKEN_FILE
from cutter.policy.rules_file import shipped
from starter.slack_app.server import SIGNING_SECRET_FILE
from tests.acceptance.cli.conftest import Cutter
from tests.cases.printed_batches import batch_at_the_cut, batch_of, batch_quarantined, batch_stopped
from tests.cases.printed_states import (
    CHANGED,
    POISON,
    Ask,
    Builder,
    World,
    enacted,
    failed_at_the_marking,
    registered,
    stopped_before_the_write,
    terminated,
    waiting_at_the_cut,
)
from tests.cases.printed_stops import drift_of_tables, waiting_for_the_lane
from tests.support import batch as support
from tests.support.database import short_folder
from tests.support.fake_slack import CHANNEL, SIGNING_SECRET, TOKEN, fake_slack
from tests.support.stack import Stack


async def mistakes(stack: Stack, cutter: Cutter) -> World:
    """What people mistype, with one document and one run there."""
    world = await waiting_at_the_cut(stack, cutter)
    near = world.document[:-1]
    batch_id = str(uuid_utils.uuid7())
    empty = stack.settings.state / "empty.md"
    empty.write_bytes(b"")
    loose = stack.settings.state / "loose.md"
    loose.write_text("# Article 1\nca\u0301c\n")
    childless = stack.settings.state / "childless.md"
    childless.write_bytes(POISON)
    add = ("--document-id", "ICX-NEW-1", "--profile", "generic-markdown")
    world.asks = [
        ("staus",), ("approvers", "initt"), ("orchestrate", "btch"), ("evidence", "exprt"), ("run",), ("approve",),
        ("run", near), ("approve", near), ("status", near), ("report", near), ("stop", near, "--reason", "x"),
        ("void", "NOPE", "--reason", "x"), ("cancel", near, "--reason", "x"), ("audit", "export", "--run", near),
        ("status", batch_id), ("orchestrate", "resume-batch", "--batch-id", batch_id), ("approve", "--batch", batch_id),
        ("queues", "show", world.run_id), ("run", world.document, "--mode", "trial"),
        ("source", "add", str(empty), *add), ("source", "add", str(loose), *add), ("source", "add", "none.md", *add),
        ("source", "add", str(childless), *add), ("mark", str(childless)), ("mark", str(loose)), ("mark", "none.md"),
        ("source", "add", str(world.file), *add, "--max-candidates", "1098"),
        ("mark", str(world.file), "--profil", "generic-markdown"),
        ("mark", str(world.file), "--max-candidates", "1098"), ("policy", "explain", str(world.file)),
        ("policy", "explain"),
        ("orchestrate", "batch", "--queue", "none.yaml"), ("orchestrate", "batch", "--queue", "none.yaml", "--check"),
        ("orchestrate", "resume"), ("rebuild",), ("backup", "verify", near), ("backup", "verify", "x/y.gpg"),
        ("revoke", world.run_id, "--approval", "0" * 64, "--reason", "x"), ("tenants", "set", "north"),
        ("approve", world.run_id, "--decision", "void"), ("verify", "none.tar"), ("verify", str(world.file)),
        ("approvers", "install", "7"), ("approvers", "sign", "7"),
    ]  # fmt: skip
    world.asks += [(*ask, "--json") for ask in list(world.asks)]
    return world


# --- help pages, with the examples in the state that each is about ---------------------------------------------------


def helped(base: Builder, *commands: str) -> Builder:
    """The base's state, in which the help pages of these commands are read and their examples typed."""

    async def with_a_desk(stack: Stack, cutter: Cutter) -> World:
        world = await base(stack, cutter)
        await lay_out(world)
        world.asks = [(*command.split(), "--help") for command in commands]
        return world

    with_a_desk.__name__ = f"help_in_{base.__name__}"
    return with_a_desk


ACCEPTED = (
    "select approval_sha256 from cutter_governance.approval_verdict where run_id = %s and accepted"
    " order by id desc limit 1"
)


async def lay_out(world: World) -> None:
    """The files that the examples name, and what stands in for their ids."""
    desk = world.stack.settings.state / "desk"
    desk.mkdir(exist_ok=True)
    (desk / "law.md").write_bytes(world.file.read_bytes())
    (desk / "queue.yaml").write_bytes(world.queue_file().read_bytes())
    (desk / "policy.yaml").write_bytes(shipped())
    for name, who in (("an", "alice"), ("binh", "bob")):
        _, _, file = world.key(who).partition("=")
        (desk / f"{name}.asc").write_bytes(Path(file).read_bytes())
    # What is written without a folder lands on the desk; `an` is whom the policy calls alice.
    world.stand_ins |= {
        "ICX-LAW-2026-001": world.document, "0199f1de-7c3d-7e4f-8a9b-0c1d2e3f4a5b": world.batch,
        "0199…": world.batch, "ictr-…": world.run_id, "--approver an=": "--approver alice=", "binh=": "bob=",
        ".cutter/runs": str(world.stack.settings.runs), "/RUN/": f"/{world.run_id}/",
    }  # fmt: skip
    if not world.stand_ins["--approver an="].endswith(" an"):
        world.stand_ins["--approver an"] = "--approver alice"
    if world.batch and "cut" in (await batch_of(world).view())["batch"]["state"]:
        world.stand_ins["SG1-approvals/"] = await batch_of(world).sign(support.CUT)
    elif world.run_id and (await world.run.sidecar())["run"]["state"] == "awaiting_cut_authorization":
        world.stand_ins["knowledge/…/SG1-cut-authz-approval-….md"] = await world.run.sign()
    if signed := world.stack.database.value(ACCEPTED, (world.run_id,)):
        world.stand_ins["3fa4…"] = str(signed)
    await exported(world)


async def exported(world: World) -> None:
    """What an auditor has been given of a run that is over."""
    if not world.run_id or not (await world.run.sidecar())["run"]["ended_at"]:
        return
    evidence = await world.type("evidence", "export", world.run_id, "-o", "evidence.tar", "--json")
    audit = await world.type("audit", "export", "--run", world.run_id, "--out", "audit.jsonl", "--json")
    await world.type("transitions", "export", "--out", "transitions.jsonl")
    world.stand_ins["evidence.tar --head 3598c3b6…"] = f"evidence.tar --head {json.loads(evidence.out)['head']}"
    world.stand_ins["audit.jsonl --head 3598c3b6…"] = f"audit.jsonl --head {json.loads(audit.out)['head']}"


async def with_a_proposed_epoch(stack: Stack, cutter: Cutter) -> World:
    """A next epoch lies there and is not signed."""
    world = await registered(stack, cutter)
    words = ("approvers", "propose", "--approver", world.key("alice"), "--approver", world.key("bob"))
    answer = await world.type(*words, "--json")
    assert answer.code == 0, answer.out + answer.err
    number = str(json.loads(answer.out)["epoch"])
    home = f"--approver alice --gpg-home {stack.kit.alice.home}"
    world.stand_ins = {"sign 2 --approver an": f"sign {number} {home}", "install 2": f"install {number}"}
    world.asks = [
        ("doctor",), ("approvers", "install", number), ("approvers", "sign", number, "--approver", "alice",
         "--gpg-home", str(stack.kit.alice.home)), ("approvers", "sign", "99"), ("approvers", "install", "99"), words,
    ]  # fmt: skip
    return world


async def enacted_with_a_database_beside(stack: Stack, cutter: Cutter) -> World:
    """An empty database, into which a backup may be restored."""
    world = await enacted(stack, cutter)
    name = f"recovered_{world.document[-3:]}"
    stack.database.server.maintain(sql.SQL("create database {} owner cutter_backup").format(sql.Identifier(name)))
    server = stack.database.server
    beside = f"postgresql://cutter_backup@127.0.0.1:{server.cluster.port}/{name}"
    world.stand_ins = {"postgresql://postgres@127.0.0.1:5432/recovered": beside}
    world.environment["PGPASSWORD"] = (server.secrets / "cutter_backup.password").read_text(encoding="ascii").strip()
    return world


async def without_approvers(stack: Stack, cutter: Cutter) -> World:
    """A new deployment: its database is migrated, and nobody may sign yet."""
    world = await registered(stack, cutter)
    beside = ExitStack()
    CHANGED.append(beside.close)
    database = beside.enter_context(stack.database.server.database())
    folder = beside.enter_context(short_folder())
    world.environment |= {
        "CUTTER_DATABASE_URL": database.address, "CUTTER_APPROVERS_DIR": str(folder / "approvers"),
        "CUTTER_SECRETS_DIR": str(stack.settings.secrets),
    }  # fmt: skip
    key = ("--approver", world.key("alice"))
    world.asks = [("doctor",), ("approvers", "propose", *key), ("approvers", "install", "2"), ("inbox",),
                  ("approvers", "sign", "2"), ("approvers", "init", "--approver", "an"), ("status",)]  # fmt: skip
    return world


async def with_slack(stack: Stack, cutter: Cutter) -> World:
    """Cards are switched on, and a run waits."""
    world = await waiting_at_the_cut(stack, cutter)
    beside = ExitStack()
    CHANGED.append(beside.close)
    slack = beside.enter_context(fake_slack())
    secrets = beside.enter_context(short_folder()) / "secrets"
    shutil.copytree(stack.settings.secrets, secrets)
    (secrets / TOKEN_FILE).write_text(TOKEN)
    (secrets / SIGNING_SECRET_FILE).write_text(SIGNING_SECRET)
    world.environment |= {
        "CUTTER_SECRETS_DIR": str(secrets), "CUTTER_SLACK_CHANNEL": CHANNEL, "CUTTER_SLACK_URL": slack.url,
    }  # fmt: skip
    world.asks = [("reconcile",), ("reconcile", "--json"), ("notify", "check"), ("doctor",)]
    return world


EVERYWHERE = (
    "mark", "source add", "orchestrate batch", "inbox", "policy install",
    "policy explain", "status", "queues", "workers", "tenants set", "tenants", "reconcile", "backup list", "doctor",
    "migrate", "approvers propose", "run",
    "up", "down", "demo", "source", "orchestrate", "approvers", "policy", "backup", "audit",
    "transitions", "evidence", "notify",
)  # fmt: skip
OF_THE_LAW = (
    "report", "rebuild", "backup verify", "audit export", "verify", "transitions export", "evidence export",
)  # fmt: skip

HELP_PAGES: tuple[tuple[Builder, tuple[str, ...]], ...] = (
    (registered, EVERYWHERE), (enacted, OF_THE_LAW),
    (waiting_at_the_cut, ("request", "approve", "reject", "stop", "cancel", "void", "orchestrate resume")),
    (batch_at_the_cut, ("approve", "orchestrate resume", "orchestrate resume-batch")),
    (batch_quarantined, ("queues show",)), (drift_of_tables, ("doctor",)),
    (waiting_for_the_lane, ("revoke",)), (with_a_proposed_epoch, ("approvers sign", "approvers install")),
    (with_slack, ("notify check", "notify serve")), (without_approvers, ("approvers init",)),
    (enacted_with_a_database_beside, ("backup restore",)),
)  # fmt: skip
"""The state that the examples of each command are about."""
HELP: tuple[Builder, ...] = tuple(helped(base, *commands) for base, commands in HELP_PAGES)


# --- options that were mistyped ---------------------------------------------------------------------------------------


def mistyped(base: Builder, *lines: str) -> Builder:
    """The base's state, in which the last option of each of these command lines is typed without its last letter."""

    async def typed_wrong(stack: Stack, cutter: Cutter) -> World:
        world = await base(stack, cutter)
        world.asks = [wrong(line, world) for line in lines]
        return world

    typed_wrong.__name__ = f"mistyped_in_{base.__name__}"
    return typed_wrong


def wrong(line: str, world: World) -> Ask:
    """A right command line with one letter less; the words in capitals are a person's."""
    values = world.values(line)
    words = [values.get(word, word) for word in line.split()]
    for meaning, name in world.names().items():
        words = [word.replace(meaning, name) for word in words]
    last = max(number for number, word in enumerate(words) if word.startswith("--"))
    return (*words[:last], words[last][:-1], *words[last + 1 :])


CONSTITUTION = Path(__file__).resolve().parents[2] / "examples" / "laws" / "hien-phap-mau.vi.md"
"""Its profile knows which of its articles are drafts."""
ADD_DRAFTS = f"source add {CONSTITUTION} --document-id <document> --profile incomex-constitution"
ADD = "source add FILE --document-id <document> --profile generic-markdown"
EXPLAIN = "policy explain --document <document>"
START = "orchestrate batch --queue QUEUE"

MISTYPED: tuple[Builder, ...] = (
    mistyped(
        registered, "run <document> --wait", "run <document> --watch", "run <document> --mode live",
        "run <document> --mode dryrun --wait", "run <document> --priority 5", "run <document> --mode dryrun",
        "source add FILE --profile generic-markdown --document-id <document>", ADD,
        f"{ADD} --source-uri https://example.org/law", f"{ADD} --duplicates ordinal", f"{ADD} --empty heading_only",
        f"{ADD} --max-candidates 50", f"{ADD} --forbid DIEU-44", f"{ADD} --normalise nfc", f"{ADD} --force",
        f"{ADD_DRAFTS} --scope enacted_only", "mark FILE --profile generic-markdown", "mark FILE --docprefix LAW-1",
        "mark FILE --duplicates ordinal", "mark FILE --empty heading_only", "mark FILE --max-candidates 50",
        "mark FILE --forbid DIEU-44", "mark FILE --normalise nfc", START, f"{START} --check",
        f"{START} --max-concurrent 2", f"{START} --quarantine", f"{START} --overnight", f"{START} --mode dryrun",
        f"{START} --skip-completed", f"{START} --stop-on-first-failure", f"{START} --wait", f"{START} --no-overnight",
        f"{START} --watch", f"{START} --no-watch", "status --watch", "tenants set north --weight 2",
        "tenants set north --max-concurrency 4", "tenants set north --max-runs-per-min 30",
        "tenants set north --max-writes-per-run 500",
        "migrate --check", "workers --all", "inbox --approver alice",
        f"{EXPLAIN} --gate IG_backup", f"{EXPLAIN} --gate IG_backup --tenant north",
        f"{EXPLAIN} --gate IG_backup --mode dryrun", f"{EXPLAIN} --gate IG_backup --candidates 5",
        "reconcile --grace-seconds 60", "policy install --replace",
        "transitions export --out t.jsonl",
        "audit export --out a.jsonl", "rebuild --all", "queues --batch UUID",
    ),
    mistyped(
        waiting_at_the_cut, "approve <run> --approver alice", "approve <run> --yes", "stop <run> --reason wrong",
        "reject <run> --reason wrong", "cancel <run> --reason wrong", "void <run> --reason wrong",
        "void <run> --reason wrong --yes", "reject <run> --reason wrong --yes", "status <run> --watch",
        "status <run> --as request", "status <run> --as task", "status <run> --as run", "approve <run> --gpg-home HOME",
        "approve <run> --key FINGERPRINT", "reject <run> --reason wrong --gpg-home HOME",
        "reject <run> --reason wrong --key FINGERPRINT", "void <run> --reason wrong --approver alice",
        "void <run> --reason wrong --gpg-home HOME", "void <run> --reason wrong --key FINGERPRINT",
        "reject <run> --reason wrong --approver alice",
    ),
    mistyped(
        terminated, "orchestrate resume --run-id <run>", "orchestrate resume --document-id <document>",
        "orchestrate resume --run-id <run> --wait",
    ),
    mistyped(
        stopped_before_the_write, "approve <run> --decision resume --reason right",
        "approve <run> --reason right --decision resume",
    ),
    mistyped(failed_at_the_marking, "run <document> --amends <run>"),
    mistyped(
        enacted, "audit export --out a.jsonl --run <run>", "audit export --run <run> --out a.jsonl",
        "evidence export <run> --out e.tar",
        "report <run> --out r.html", "audit export --out all.jsonl --run <document>",
    ),
    mistyped(
        batch_at_the_cut, "approve --batch <batch>", "approve --batch <batch> --only <document>",
        "queues --batch <batch>", "status <batch> --watch", "status <batch> --as workstream",
        "approve --batch <batch> --yes", "approve --batch <batch> --approver alice",
    ),
    mistyped(
        batch_stopped, "orchestrate resume-batch --batch-id <batch>",
        "orchestrate resume-batch --batch-id <batch> --wait",
        "orchestrate resume --batch-id <batch>", "orchestrate resume-batch --batch-id <batch> --watch",
    ),
    mistyped(
        drift_of_tables, "approve <run> --decision acknowledge_drift --reason right",
        "approve <run> --decision acknowledge_drift --reason right --yes",
    ),
)  # fmt: skip

MISTAKES: tuple[Builder, ...] = (
    mistakes, *HELP, with_a_proposed_epoch, without_approvers, with_slack, *MISTYPED,
)  # fmt: skip
