"""IO: campaign P18, backup defects: each of them is caught, and no plaintext is left on the disk.

Run: python -m tests.campaigns.p18_backup_defects --trials 200 --seed 1 --out p18.jsonl

One line a trial and a summary line. Two control arms must fail, or the campaign does:

- A naive backup (a shell pipeline, the last exit code, no restore) meets the same defects.
- Plaintext is put where the scanner looks.
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

from cutter.backup.record import TABLES, BackupRefusal, RestoreReport
from cutter.errors import Unavailable
from tests.integration.backup import rig as parts
from tests.integration.backup.rig import ROLE, Rig

CLEAN_EVERY = 10
UNITS = 40
FILLED = ("public.information_unit", "public.unit_version", "cutter_governance.manifest_unit_block")
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


def altered(trial: Trial, change: str) -> None:
    """gpg gets other rows than PostgreSQL gave."""
    trial.rig.replace("gpg", f'case "$*" in *--encrypt*) {change} | "$REAL" "$@"; exit;; esac; exec "$REAL" "$@"')


def truncated_rows(trial: Trial) -> None:
    altered(trial, f"head -c {trial.roll('bytes', 0, 20_000)}")


def left_out_table(trial: Trial) -> None:
    altered(trial, f"grep -v '^{trial.pick('table', FILLED)}'")


def changed_row(trial: Trial) -> None:
    """One digit of one row."""
    altered(trial, f"sed '{trial.roll('line', 2, UNITS)}s/[0-8]/9/{trial.roll('place', 1, 20)}'")


def doubled_row(trial: Trial) -> None:
    altered(trial, f"sed '{trial.roll('line', 2, UNITS)}p'")


def wrong_exit_code(trial: Trial) -> None:
    code = trial.roll("code", 1, 127)
    cut = trial.pick("output", ("whole", "cut"))
    limit = f"| head -c {trial.roll('bytes', 0, 2_000)}" if cut == "cut" else ""
    trial.rig.replace("gpg", f'"$REAL" "$@" {limit}\nexit {code}')


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
    trial.detail["mount_kib"] = 4 * trial.roll("pages", 1, 2)


def killed_gpg(trial: Trial) -> None:
    """The real gpg dies by a signal after some bytes, while it encrypts or decrypts."""
    signal = trial.dice.choice((9, 15, 11))
    trial.detail["signal"] = signal
    limit = trial.roll("bytes", 0, 1_000)
    word = "--encrypt" if trial.pick("while", ("encrypting", "decrypting")) == "encrypting" else "--decrypt"
    # Only a part is fed before the signal, so gpg cannot have ended; the stand-in dies as it did.
    fifo = trial.rig.folder / "fed"
    trial.rig.replace(
        "gpg",
        f'case "$*" in *{word}*) mkfifo "{fifo}"; "$REAL" "$@" < "{fifo}" & pid=$!\n'
        f'(head -c {limit}; kill -{signal} $pid; cat) > "{fifo}"; wait $pid; kill -{signal} $$;; esac\n'
        'exec "$REAL" "$@"',
    )


DEFECTS: dict[str, Callable[[Trial], None]] = {
    made.__name__: made
    for made in (
        *(truncated, flipped, truncated_rows, left_out_table, changed_row, doubled_row, wrong_exit_code, wrong_key),
        *(disk_full, killed_gpg),
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
    home = trial.take_with.get("gpg_home", rig.home.path)
    fingerprint = trial.spare.fingerprint if "gpg_home" in trial.take_with else rig.home.fingerprint
    copy = " union all ".join(f"select '{table}', to_jsonb(t)::text from {table} t" for table in TABLES)
    line = (
        f'{parts.pg_bin("psql")} --dbname="$DSN" --no-psqlrc --quiet -c "copy ({copy}) to stdout"'
        f" | {rig.programs.get('gpg', 'gpg')} --homedir {home} --batch --trust-model always"
        f" --recipient {fingerprint} --encrypt > {target}"
    )
    done = subprocess.run(
        ["bash", "-c", line],
        env=dict(os.environ) | {"DSN": rig.server.dsn(ROLE, rig.database)},
        capture_output=True,
        check=False,
    )
    if done.returncode != 0 or target.stat().st_size == 0:
        return True, f"exit code {done.returncode}"
    trial.between(target)
    return False, "accepted"


ARMS = {"product": product, "naive": naive}


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

    @contextmanager
    def rig(self) -> Iterator[Rig]:
        """A store of its own each."""
        with tempfile.TemporaryDirectory(prefix="ca-", dir="/tmp") as folder:
            yield replace(self.shared, folder=Path(folder), programs={}, taken=0)

    def run(self, arm: str, kind: str | None, seed: str) -> dict[str, Any]:
        """One trial; `kind` None is a clean run, which must be accepted."""
        with self.rig() as rig, temporary_folder(rig.folder):
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
        """The rows in the clear where temporary files go: the scanner must find it."""
        with self.rig() as rig, temporary_folder(rig.folder) as place:
            rig.replace(
                "gpg", f'case "$*" in *--encrypt*) tee "{place}/dump" | "$REAL" "$@"; exit;; esac; exec "$REAL" "$@"'
            )
            rig.take()
            leaks = parts.holds_plaintext([rig.folder])
            return {"campaign": "P18", "arm": "scanner", "kind": "plaintext", "seed": seed, "caught": bool(leaks)}


def trials(campaign: Campaign, count: int, seed: int) -> Iterator[dict[str, Any]]:
    kinds = [kind for kind in DEFECTS if kind != "disk_full" or os.geteuid() == 0]
    for number in range(count):
        for arm in ARMS:
            yield campaign.run(arm, kinds[number % len(kinds)], f"{seed}-{number}")
        if number % CLEAN_EVERY == 0:
            yield campaign.run("product", None, f"{seed}-clean-{number}")
            yield campaign.scanner_control(f"{seed}-scanner-{number}")


def summary(lines: list[dict[str, Any]], count: int, seed: int) -> dict[str, Any]:
    defects = [line for line in lines if line["arm"] == "product" and line["kind"] != "clean"]
    clean = [line for line in lines if line["kind"] == "clean"]
    control = [line for line in lines if line["arm"] == "naive"]
    scanner = [line for line in lines if line["arm"] == "scanner"]
    caught = sum(line["caught"] for line in defects)
    accepted = sum(not line["caught"] for line in control)
    dirty = sum(
        bool(line.get("plaintext") or line.get("half_written") or line.get("row_logged")) for line in defects + clean
    )
    good = (
        caught == len(defects) == count
        and dirty == 0
        and all(line["how"] == "accepted" for line in clean)
        and accepted >= NAIVE_MUST_ACCEPT * len(control)
        and all(line["caught"] for line in scanner)
    )
    return {
        "campaign": "P18", "arm": "summary", "seed": seed, "trials": len(defects), "caught": caught,
        "upper_bound_95": round(3 / max(1, len(defects)), 4) if caught == len(defects) else None,
        "plaintext_half_written_or_logged": dirty,
        "clean_accepted": f"{sum(line['how'] == 'accepted' for line in clean)} of {len(clean)}",
        "naive_accepted": f"{accepted} of {len(control)}",
        "scanner_found": f"{sum(line['caught'] for line in scanner)} of {len(scanner)}",
        "by_kind": dict(Counter(line["kind"] for line in defects)),
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
        out.open("w") as file,
    ):
        home.add(spare.export())
        for line in trials(Campaign(server, home, spare, shared), count, seed):
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
        if line["arm"] == "product" and not line["caught"] and line["kind"] != "clean":
            print("not caught:", json.dumps(line), file=sys.stderr)
    return 0 if total["accepts"] else 1


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main())
