"""IO: campaign P18, backup defects: each of them is caught, and no plaintext is left on the disk.

Run: python -m tests.campaigns.p18_backup_defects --trials 200 --seed 1 --out p18.jsonl

One line a trial and a summary line. Three control arms must fail, or the campaign does:

- A naive backup (a shell pipeline, the last exit code, no restore) meets the same defects.
- A plaintext dump is put where the scanner looks.
- A script that only decrypts every segment meets the defects of a chain of segments (`segment_chain`).
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import random  # noqa: TID251 - seeded, so every trial can be run again
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cutter.backup.connection import client
from cutter.backup.record import BackupRefusal, RestoreReport
from cutter.backup.tables import BACKUP_TABLES
from cutter.errors import Unavailable
from tests.cases import segment_chain
from tests.integration.backup import rig as parts
from tests.integration.backup.rig import ROLE, Rig

GONE_MILLISECONDS = 10_000
"""PostgreSQL waits so long for a session to end, because it ends when the machine has time for it."""

CLEAN_EVERY = 10
UNITS = 40
NAIVE_MUST_ACCEPT = 0.5
"""Of the control arm: below this share the defects are too weak to prove anything."""


@dataclass(slots=True)
class Trial:
    """What a defect does: to the programs before, to the artifact between taking and checking, to the arguments."""

    rig: Rig
    dice: random.Random
    spare: parts.Home
    detail: dict[str, Any] = field(default_factory=dict)
    take_with: dict[str, Any] = field(default_factory=dict)
    check_with: dict[str, Any] = field(default_factory=dict)
    between: Callable[[Path], None] = Path.touch

    def roll(self, name: str, low: int, high: int) -> int:
        self.detail[name] = self.dice.randint(low, high)
        return int(self.detail[name])

    def pick(self, name: str, options: tuple[str, ...]) -> str:
        self.detail[name] = self.dice.choice(options)
        return str(self.detail[name])


def truncated(trial: Trial) -> None:
    share = trial.roll("kept_permille", 0, 999)
    trial.between = lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size * share // 1000])


def flipped(trial: Trial) -> None:
    place, bit = trial.roll("place_permille", 0, 999), trial.roll("bit", 0, 7)

    def flip(path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[len(data) * place // 1000] ^= 1 << bit
        path.write_bytes(data)

    trial.between = flip


def truncated_dump(trial: Trial) -> None:
    """pg_dump stops early and says that all is well."""
    trial.rig.replace("pg_dump", f'"$REAL" "$@" | head -c {trial.roll("bytes", 0, 50_000)}; exit 0')


def left_out_table(trial: Trial) -> None:
    table = trial.pick("table", BACKUP_TABLES)
    trial.rig.replace(
        "pg_dump",
        f'for a; do [ "$a" = "--table={table}" ] || kept+=("$a"); done; exec "$REAL" "${{kept[@]}}"',
    )


def wrong_exit_code(trial: Trial) -> None:
    program = trial.pick("program", ("pg_dump", "gpg", "pg_restore"))
    code = trial.roll("code", 1, 127)
    cut = trial.pick("output", ("whole", "cut"))
    limit = f"| head -c {trial.roll('bytes', 0, 20_000)}" if cut == "cut" else ""
    trial.rig.replace(program, f'"$REAL" "$@" {limit}\nexit {code}')


def wrong_key(trial: Trial) -> None:
    """For another key, opened with another key, or pinned to another key."""
    which = trial.pick("which", ("encrypted_for", "opened_with", "pinned_to", "added"))
    other = trial.spare.fingerprint
    if which == "encrypted_for":
        change = f'for a; do [ "$a" = "{trial.rig.home.fingerprint}" ] && a={other}; kept+=("$a"); done'
        trial.rig.replace("gpg", f'{change}; exec "$REAL" "${{kept[@]}}"')
    elif which == "added":
        trial.rig.replace("gpg", f'case "$*" in *--encrypt*) set -- --recipient {other} "$@";; esac; exec "$REAL" "$@"')
    elif which == "opened_with":
        trial.check_with["gpg_home"] = trial.spare.path
    else:
        # The home of the trial holds both public keys, so only a home without it shows a wrong pin.
        trial.take_with |= {"gpg_home": trial.spare.path}


def disk_full(trial: Trial) -> None:
    trial.detail["mount_kib"] = 4 * trial.roll("pages", 2, 13)


def wrong_snapshot(trial: Trial) -> None:
    """A row is committed after the fingerprint and the dump looks at the newest state."""
    table = trial.pick("table", BACKUP_TABLES)
    dsn = trial.rig.server.cluster.superuser_dsn(trial.rig.database)
    edit = f"DELETE FROM {table} WHERE ctid = (SELECT min(ctid) FROM {table})"
    trial.rig.replace(
        "pg_dump",
        f"{parts.pg_bin('psql')} -q '{dsn}' -c \"{edit}\" >&2\n"
        'for a; do case "$a" in --snapshot=*) ;; *) kept+=("$a");; esac; done\nexec "$REAL" "${kept[@]}"',
    )


_KILL_SIBLING = """
import os, sys, psutil
for child in psutil.Process(int(sys.argv[1])).children():
    if child.name() == "gpg":
        child.send_signal(int(sys.argv[2]))
"""


def killed_gpg(trial: Trial) -> None:
    """The real gpg dies by a signal after some bytes, while it encrypts or decrypts."""
    signal = trial.dice.choice((9, 15, 11))
    trial.detail["signal"] = signal
    limit = trial.roll("bytes", 0, 20_000)
    while_ = trial.pick("while", ("encrypting", "decrypting"))
    if while_ == "encrypting":
        script = trial.rig.folder / "kill.py"
        script.write_text(_KILL_SIBLING)
        killer = f'"{sys.executable}" "{script}" $PPID {signal}'
        # pg_dump's stand-in passes some bytes, kills gpg, and goes on.
        trial.rig.replace("pg_dump", f'"$REAL" "$@" | (head -c {limit}; {killer}; cat)')
    else:
        # Only half of the artifact is fed before the signal, so gpg cannot have ended; the stand-in dies as it did.
        fifo = trial.rig.folder / "fed"
        trial.rig.replace(
            "gpg",
            f'case "$*" in *--decrypt*) mkfifo "{fifo}"; "$REAL" "$@" < "{fifo}" & pid=$!\n'
            f'(head -c {limit}; kill -{signal} $pid; cat) > "{fifo}"; wait $pid; kill -{signal} $$;; esac\n'
            'exec "$REAL" "$@"',
        )


def lost_connection(trial: Trial) -> None:
    """The session with the snapshot is gone before pg_dump uses it. If pg_dump were first, the backup would be good."""
    dsn = trial.rig.server.cluster.superuser_dsn(trial.rig.database)
    kill = (
        f"SELECT pg_terminate_backend(pid, {GONE_MILLISECONDS}) FROM pg_stat_activity"
        f" WHERE usename = '{ROLE}' AND datname = '{trial.rig.database}'"
    )
    trial.rig.replace("pg_dump", f'{parts.pg_bin("psql")} -q \'{dsn}\' -c "{kill}" >&2; exec "$REAL" "$@"')


DEFECTS: dict[str, Callable[[Trial], None]] = {
    made.__name__: made
    for made in (
        *(truncated, flipped, truncated_dump, left_out_table, wrong_exit_code, wrong_key, disk_full),
        *(wrong_snapshot, killed_gpg, lost_connection),
    )
}


def product(trial: Trial) -> tuple[bool, str]:
    """(caught, how): take and restore check, as gate 4 does them."""
    rig = trial.rig
    try:
        record = rig.take(**trial.take_with)
        if isinstance(record, BackupRefusal):
            return not rig.left(), record.code
        trial.between(rig.artifact(record))
        report = rig.check(record, **trial.check_with)
    except Unavailable as problem:
        return True, f"unavailable: {problem}"[:120]
    return (False, "accepted") if isinstance(report, RestoreReport) else (True, report.code)


def naive(trial: Trial) -> tuple[bool, str]:
    """(caught, how): what a shell line would see; the artifact is never looked at again."""
    rig = trial.rig
    rig.store.mkdir(exist_ok=True)
    target = rig.store / "naive.gpg"
    libpq = client(rig.server.dsn(ROLE, rig.database))
    tables = " ".join(f"--table={table}" for table in BACKUP_TABLES)
    sequence = "--exclude-table-data='*_seq'"
    home = trial.take_with.get("gpg_home", rig.home.path)
    fingerprint = trial.spare.fingerprint if "gpg_home" in trial.take_with else rig.home.fingerprint
    line = (
        f"{rig.pg_bin('pg_dump')} --dbname='{libpq.conninfo}' --format=custom {sequence} {tables}"
        f" | {rig.programs.get('gpg', 'gpg')} --homedir {home} --batch --trust-model always"
        f" --recipient {fingerprint} --encrypt > {target}"
    )
    done = subprocess.run(["bash", "-c", line], env=dict(libpq.environment), capture_output=True, check=False)
    if done.returncode != 0 or target.stat().st_size == 0:
        return True, f"exit code {done.returncode}"
    trial.between(target)
    return False, "accepted"


def segments(trial: Trial) -> tuple[bool, str]:
    """(caught, how): the same as `product` in the form `segments`."""
    trial.rig.form = "segments"
    return product(trial)


ARMS = {"product": product, "naive": naive, "segments": segments}

OF_SEGMENTS = frozenset({"truncated", "flipped", "wrong_key", "disk_full"})
"""The defects that also meet a segment. The others are about pg_dump or pg_restore, and a segment runs neither."""


@contextmanager
def full_disk(rig: Rig, kib: int | None) -> Iterator[None]:
    if kib is None:
        yield
        return
    rig.store.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "none", str(rig.store)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(rig.store)], check=True)


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """Where our process and its children would put temporary files; afterwards it is searched."""
    place = folder / "tmp"
    place.mkdir(exist_ok=True)
    before, tempfile.tempdir = tempfile.tempdir, str(place)
    os.environ["TMPDIR"] = str(place)
    try:
        yield place
    finally:
        tempfile.tempdir = before
        del os.environ["TMPDIR"]


class Ear(logging.Handler):
    """Everything that anything logs."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record.getMessage())


@contextmanager
def listening() -> Iterator[Ear]:
    ear = Ear()
    logging.getLogger().addHandler(ear)
    try:
        yield ear
    finally:
        logging.getLogger().removeHandler(ear)


@dataclass(slots=True)
class Campaign:
    server: parts.Server
    home: parts.Home
    spare: parts.Home
    shared: Rig
    chain: segment_chain.Chain

    @contextmanager
    def rig(self, kind: str | None) -> Iterator[Rig]:
        """A store of its own each; a database of its own where the defect edits rows, since making one is slow."""
        if kind == wrong_snapshot.__name__:
            with parts.rig(self.server, self.home, units=UNITS) as made:
                yield made
            return
        with tempfile.TemporaryDirectory(prefix="ca-", dir="/tmp") as folder:
            yield replace(self.shared, folder=Path(folder), programs={}, taken=0)

    def run(self, arm: str, kind: str | None, seed: str) -> dict[str, Any]:
        """One trial on a database of its own; `kind` None is a clean run, which must be accepted."""
        with self.rig(kind) as rig, temporary_folder(rig.folder):
            trial = Trial(rig=rig, dice=random.Random(seed), spare=self.spare)
            if kind is not None:
                DEFECTS[kind](trial)
            started = time.monotonic()
            with full_disk(rig, trial.detail.get("mount_kib")), listening() as ear:
                caught, how = ARMS[arm](trial)
                left = [name for name in rig.left() if ".part" in name]
                plain = parts.holds_plaintext([rig.folder, self.home.path, self.spare.path])
            return {
                "campaign": "P18", "arm": arm, "kind": kind or "clean", "seed": seed, "detail": trial.detail,
                "caught": caught, "how": how, "half_written": left, "plaintext": [path.name for path in plain],
                "row_logged": any("CONTEXT:  COPY" in text or parts.CANARY in text for text in [*ear.heard, how]),
                "seconds": round(time.monotonic() - started, 3),
            }  # fmt: skip

    def scanner_control(self, seed: str) -> dict[str, Any]:
        """A dump in the clear where temporary files go: the scanner must find it."""
        with self.rig(None) as rig, temporary_folder(rig.folder) as place:
            rig.replace(
                "gpg", f'case "$*" in *--encrypt*) tee "{place}/dump" | "$REAL" "$@"; exit;; esac; exec "$REAL" "$@"'
            )
            rig.take()
            leaks = parts.holds_plaintext([rig.folder])
            return {"campaign": "P18", "arm": "scanner", "kind": "plaintext", "seed": seed, "caught": bool(leaks)}


def trials(campaign: Campaign, count: int, seed: int) -> Iterator[dict[str, Any]]:
    of_chain = list(segment_chain.DAMAGES)
    kinds = [kind for kind in DEFECTS if kind != "disk_full" or os.geteuid() == 0]
    for number in range(count):
        kind = kinds[number % len(kinds)]
        for arm in ARMS:
            if arm != "segments" or kind in OF_SEGMENTS:
                yield campaign.run(arm, kind, f"{seed}-{number}")
        damage = of_chain[number % len(of_chain)]
        yield from segment_chain.run(campaign.chain, campaign.spare, damage, f"{seed}-chain-{number}")
        if number % CLEAN_EVERY == 0:
            yield campaign.run("product", None, f"{seed}-clean-{number}")
            yield campaign.run("segments", None, f"{seed}-clean-{number}")
            yield from segment_chain.run(campaign.chain, campaign.spare, None, f"{seed}-chain-clean-{number}")
            yield campaign.scanner_control(f"{seed}-scanner-{number}")


def summary(lines: list[dict[str, Any]], count: int, seed: int) -> dict[str, Any]:
    defects = [line for line in lines if line["arm"] == "product" and line["kind"] != "clean"]
    of_segments = [line for line in lines if line["arm"] == "segments" and line["kind"] != "clean"]
    clean = [line for line in lines if line["kind"] == "clean"]
    control = [line for line in lines if line["arm"] == "naive"]
    of_chain = [line for line in lines if line["arm"] == "chain" and line["kind"] != "clean"]
    of_script = [line for line in lines if line["arm"] == "chain_naive" and line["kind"] != "clean"]
    unseen = sum(not line["caught"] for line in of_script)
    scanner = [line for line in lines if line["arm"] == "scanner"]
    caught = sum(line["caught"] for line in defects)
    accepted = sum(not line["caught"] for line in control)
    dirty = sum(
        bool(line.get("plaintext") or line.get("half_written") or line.get("row_logged"))
        for line in defects + of_segments + clean
    )
    good = (
        caught == len(defects) == count
        and all(line["caught"] for line in of_segments)
        and all(line["caught"] for line in of_chain)
        and unseen >= NAIVE_MUST_ACCEPT * len(of_script)
        and dirty == 0
        and all(line["how"] == "accepted" for line in clean)
        and accepted >= NAIVE_MUST_ACCEPT * len(control)
        and all(line["caught"] for line in scanner)
    )
    return {
        "campaign": "P18", "arm": "summary", "seed": seed, "trials": len(defects), "caught": caught,
        "segments_caught": f"{sum(line['caught'] for line in of_segments)} of {len(of_segments)}",
        "chain_caught": f"{sum(line['caught'] for line in of_chain)} of {len(of_chain)}",
        "chain_script_accepted": f"{unseen} of {len(of_script)}",
        "upper_bound_95": round(3 / max(1, len(defects)), 4) if caught == len(defects) else None,
        "plaintext_half_written_or_logged": dirty,
        "clean_accepted": f"{sum(line['how'] == 'accepted' for line in clean)} of {len(clean)}",
        "naive_accepted": f"{accepted} of {len(control)}",
        "scanner_found": f"{sum(line['caught'] for line in scanner)} of {len(scanner)}",
        "by_kind": dict(Counter(line["kind"] for line in defects + of_chain)),
        "how": dict(Counter(line["how"].split(":")[0] for line in defects)),
        "accepts": good,
    }  # fmt: skip


def run(count: int, seed: int, out: Path) -> list[dict[str, Any]]:
    """All trials, and the summary as the last line. Each line is written to `out` at once."""
    lines: list[dict[str, Any]] = []
    with (
        parts.server() as server,
        parts.new_home() as home,
        parts.new_home() as spare,
        parts.rig(server, home, units=UNITS) as shared,
        segment_chain.chain(server, home, units=UNITS) as chain,
        out.open("w") as file,
    ):
        home.add(spare.export())
        for line in trials(Campaign(server, home, spare, shared, chain), count, seed):
            lines.append(line)
            print(json.dumps(line, sort_keys=True), file=file, flush=True)
        lines.append(summary(lines, count, seed))
        print(json.dumps(lines[-1], sort_keys=True), file=file)
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    *lines, total = run(given.trials, given.seed, given.out)
    print(json.dumps(total, indent=2))
    for line in lines:
        if line["arm"] in ("product", "segments", "chain") and not line["caught"] and line["kind"] != "clean":
            print("not caught:", json.dumps(line), file=sys.stderr)
    return 0 if total["accepts"] else 1


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
