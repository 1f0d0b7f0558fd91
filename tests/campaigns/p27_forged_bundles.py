"""P27: a forged evidence bundle never verifies, however well its digests and chains fit.

    python -m tests.campaigns.p27_forged_bundles --trials 2000 --seed 1 --out p27.jsonl

The bundles are of real runs: one approved by one person, one by two. Each trial removes or replaces statements,
signatures, verdicts, keys, epochs, requests, receipts and consumptions, alone and in combinations, at one sovereign
gate or at both, and makes every digest and chain fit again (bundle_forger.py, bundle_forgeries.py). The verifier judges
each once with gpg and once without. For the forgeries with a name it runs as an auditor runs it, one file in a Python
of its own without site packages, and gpg is hidden from PATH; for the others its `check` is called.

With gpg it must end with 1. Without gpg it must end with 1, or with 5 where a signature, key or fingerprint was
replaced, and never with 0. What no file can show by itself (events left out at the end, keys and epochs of the forger's
own) must be NOT CHECKED, and must fail after the auditor gives the head or the epoch that was kept elsewhere. The
control arm is the earlier verifier, which looked at accepted verdicts alone.

Bundles of laws that changed are forged too (law_forgeries.py): another text in a bundle with its law, and bundles that
are not the whole chain of one law. Each must end with 1, with gpg and without.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from cutter.evidence import offline
from cutter.gpg import Gpg
from starter.commands.evidence import exported
from tests.cases import earlier_verifier, law_forgeries
from tests.cases.bundle_forger import CUT, LIFECYCLE, Forger
from tests.cases.bundle_forgeries import NAMED, REMOVED, REPLACED, UNSEEN_WITHOUT_GPG, Forgery, remove
from tests.cases.law_bundles import bundles_of_laws
from tests.cases.trials import Dice, Summary, command_line, write_lines
from tests.support.database import Database, own_cluster
from tests.support.runs import Deployment, Keys, deployment, drive, in_force, keyring, law

ROOT = Path(__file__).resolve().parents[2]
WORKERS = 2
GATES = {"cut": (CUT,), "lifecycle": (LIFECYCLE,), "both": (CUT, LIFECYCLE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Originals:
    """Genuine bundles by name, the head and the epoch that the auditor kept of each, and a key of the forger's own."""

    bundles: dict[str, bytes]
    forger: Gpg
    fingerprint: str
    laws: dict[str, bytes]

    def kept(self, name: str, what: str) -> tuple[str, ...]:
        """What the auditor gives of a genuine bundle, as the command line takes it."""
        members = offline.Bundle(self.bundles[name]).members
        if what == "head":
            return ("--head", json.loads(members[offline.MANIFEST])["head"])
        names = [member.partition("/")[2].removesuffix(".yaml") for member in members if member.startswith("epochs/")]
        return tuple(word for name in names for word in ("--epoch", name))

    def own_keys(self, forger: Forger) -> None:
        """All of it signed again by a key that the forger made, which the epoch is said to name."""
        keys = [name for name in forger.members if name.startswith("keys/")]
        for row in forger.rows("verdicts"):
            forger.everywhere(row["fingerprint"], self.fingerprint)
        forger.members.update(dict.fromkeys(keys, self.forger.export_key(self.fingerprint)))
        for name in [member for member in forger.members if member.startswith("signed/") and member.endswith(".md")]:
            signature = self.forger.sign_detached(forger.members[name], self.fingerprint)
            forger.members[f"{name.removesuffix('.md')}.asc"] = signature

    def named(self) -> tuple[Forgery, ...]:
        """The forgeries with a name, those with the forger's own key too."""
        return (*NAMED, Forgery(name="own keys", change=self.own_keys, seen_by="epoch"))


def original(made: Deployment, *, people: int) -> bytes:
    """A closed run that so many people have approved at each sovereign gate."""
    if people == 1:
        return exported(made.settings, drive(made, law(3)).run_id)[0].data
    in_force(
        made.settings,
        "operation: create_units, verdict: needs_approval(high)",
        "operation: enact_units, verdict: needs_approval(high)",
    )
    driven = drive(made, law(3), until="IG_grant_probe")
    for gate, last in (("IG_cut_leg_a_execute", "IG_write_verify"), ("IG_lifecycle_enact_execute", "IG_closeout")):
        sovereign = offline.OPENED[gate]
        approvals = [made.approve(driven.run_id, sovereign, by=by)[0] for by in range(people)]
        outcome = made.gate(gate, driven.run_id, approvals)
        assert outcome.status == "passed", outcome
        drive(made, run_id=driven.run_id, document_id=driven.document_id, until=last)
    return exported(made.settings, driven.run_id)[0].data


def originals(database: Database, keys: Keys) -> Originals:
    """Both genuine bundles, made on a real database."""
    with deployment(database, keys) as made:
        laws = bundles_of_laws(made)
        bundles = {"one": original(made, people=1), "two": original(made, people=2)}
    fingerprint = keys.people.generate_key("mallory")
    return Originals(bundles=bundles, forger=keys.people, fingerprint=fingerprint, laws=laws)


def law_trials(have: Originals) -> Iterator[dict[str, Any]]:
    """Each forged text of each bundle with its law, and each forged chain, as the stand-alone verifier judges it."""
    for name, of in itertools.product(law_forgeries.TEXTS, law_forgeries.CHAIN[:2]):
        yield _law_trial(f"law: {name} in {of}", [law_forgeries.forged_text(have.laws, of, name)])
    for chain in law_forgeries.CHAINS:
        yield _law_trial(f"chain: {chain.name}", chain.bundles(have.laws))


def _law_trial(name: str, files: Sequence[bytes]) -> dict[str, Any]:
    codes = [NEW.several(files, gpg=gpg) for gpg in (True, False)]
    control = [max(EARLIER.called(data, gpg=gpg)[0] for data in files) for gpg in (True, False)]
    problem = "" if codes == [1, 1] else f"exit codes {codes}, not 1 and 1"
    return {"trial": name, "forgery": name, "exit": codes[0], "without_gpg": codes[1], "given": 1, "problem": problem,
            "control": control[0], "control_without_gpg": control[1]}  # fmt: skip


def removals() -> Iterator[Forgery]:
    """Every set of things removed, at one gate or at both."""
    for size in range(1, len(REMOVED) + 1):
        for names, (place, gates) in itertools.product(itertools.combinations(REMOVED, size), GATES.items()):

            def change(forger: Forger, names: Any = names, gates: Any = gates) -> None:
                for gate in gates:
                    remove(forger, gate, frozenset(names))

            yield Forgery(name=f"{place}: without {', '.join(names)}", change=change)


def replacements() -> Iterator[Forgery]:
    """Every replacement, every two of them, and each with a removal before it, at one gate or at both."""
    alone = [(name,) for name in REPLACED]
    mixed = [*itertools.combinations(REPLACED, 2), *itertools.product(REMOVED, REPLACED)]
    for names, (place, gates) in itertools.product([*alone, *mixed], GATES.items()):

        def change(forger: Forger, names: Any = names, gates: Any = gates) -> None:
            for gate, name in itertools.product(gates, names):
                (REMOVED | REPLACED)[name](forger, gate)

        hidden = not UNSEEN_WITHOUT_GPG.isdisjoint(names)
        yield Forgery(name=f"{place}: {' and '.join(names)}", change=change, seen_by="gpg" if hidden else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A verifier: its file, and the same code as a module."""

    script: Path
    module: ModuleType

    def alone(self, *files: bytes, given: Sequence[str] = (), gpg: bool) -> tuple[int, str]:
        """(Exit code, output), as an auditor calls it, where gpg is found or is not."""
        with tempfile.TemporaryDirectory() as folder:
            names = [Path(folder, f"evidence-{n}.tar") for n in range(len(files))]
            for name, data in zip(names, files, strict=True):
                name.write_bytes(data)
            path = os.path.dirname(shutil.which("gpg") or "") if gpg else folder
            words = [sys.executable, "-S", "-I", str(self.script), *map(str, names), *given]
            done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=120, env={"PATH": path})
        return done.returncode, done.stdout + done.stderr

    def several(self, files: Sequence[bytes], *, gpg: bool) -> int:
        """The exit code for a chain of bundles; a traceback is no answer."""
        code, output = self.alone(*files, gpg=gpg)
        return -1 if "Traceback" in output else code

    def called(self, data: bytes, *, gpg: bool) -> tuple[int, str]:
        """(Exit code, output) without a process of its own."""
        try:
            lines = self.module.check(data, gpg=shutil.which("gpg") if gpg else None)
        except self.module.BROKEN:
            return 2, ""
        failed = int(any(verdict == offline.FAILED for _, verdict, _ in lines))
        return (offline.exit_code(lines) if self.module is offline else failed), offline.printed(lines)


NEW = Judge(script=ROOT / "scripts" / "verify" / "verify_evidence.py", module=offline)
EARLIER = Judge(script=ROOT / "tests" / "cases" / "earlier_verifier.py", module=earlier_verifier)


def forged(have: Originals, forgery: Forgery) -> bytes:
    """The forger's bundle."""
    forger = Forger(have.bundles[forgery.of])
    forgery.change(forger)
    data = forger.sealed()
    if data == have.bundles[forgery.of]:
        raise AssertionError(f"{forgery.name} changed nothing")
    return data


def trial(have: Originals, forgery: Forgery, number: int, *, alone: bool) -> dict[str, Any]:
    """One forgery before both verifiers; `problem` says what should have been otherwise."""
    data, outside = forged(have, forgery), forgery.seen_by in ("head", "epoch")
    new, earlier = (NEW.alone, EARLIER.alone) if alone else (NEW.called, EARLIER.called)
    code, output = new(data, gpg=True)
    blind, whispered = new(data, gpg=False)
    given, _ = NEW.alone(data, given=have.kept(forgery.of, forgery.seen_by), gpg=True) if outside else (1, "")
    problem = _problem(forgery, (code, blind, given), output, whispered)
    control = [earlier(data, gpg=gpg)[0] for gpg in (True, False)]
    return {"trial": number, "forgery": forgery.name, "exit": code, "without_gpg": blind, "given": given,
            "problem": problem, "control": control[0], "control_without_gpg": control[1]}  # fmt: skip


def _problem(forgery: Forgery, codes: tuple[int, int, int], output: str, whispered: str) -> str:
    """Why the verifier's word about a forgery is not the one that is due; empty when it is."""
    open_line = {"head": "NOT CHECKED  head: ", "epoch": "NOT CHECKED  policy: "}.get(forgery.seen_by)
    first = 0 if open_line else 1
    blind_due = (5,) if open_line else (1, 5) if forgery.seen_by == "gpg" else (1,)
    if "Traceback" in output + whispered:
        return "a traceback"
    if (codes[0], codes[2]) != (first, 1) or codes[1] not in blind_due:
        return f"exit codes {codes}, not {first}, {' or '.join(map(str, blind_due))}, 1"
    if open_line and open_line not in output:
        return f"no line {open_line}"
    return "authorship OK without gpg" if "OK           authorship" in whispered else ""


def run(*, trials: int, seed: int, out: Path | None = None, have: Originals | None = None) -> Summary:
    """So many forgeries (the named ones first, the others by seed), and the genuine bundles as they were made."""
    if have is None:
        with own_cluster() as server, keyring() as keys, server.database(prefix="p27") as database:
            return run(trials=trials, seed=seed, out=out, have=originals(database, keys))
    first, rest = [*have.named()], [*removals(), *replacements()]
    dice = Dice(seed, "p27")
    rest.sort(key=lambda _: dice.below(2**40))
    chosen = [*first, *rest][:trials]
    with ThreadPoolExecutor(WORKERS) as pool:
        rows = list(pool.map(
            lambda pair: trial(have, pair[1], pair[0], alone=pair[0] < len(first)), enumerate(chosen)
        ))  # fmt: skip
    rows += law_trials(have)
    clean = [NEW.alone(data, gpg=gpg)[0] for data in have.bundles.values() for gpg in (True, False)]
    clean += [NEW.several([have.laws[name] for name in law_forgeries.CHAIN], gpg=gpg) for gpg in (True, False)]
    write_lines(out, ({"seed": seed, **row} for row in rows))
    return summary(rows, clean, {forgery.name for forgery in first})


def summary(rows: list[dict[str, Any]], clean: list[int], named: set[str]) -> Summary:
    """A forgery that is judged otherwise than it must be, or a genuine bundle that is refused, is a failure."""
    fooled = [row for row in rows if 0 in (row["control"], row["control_without_gpg"])]
    result = Summary(
        name="P27 forged evidence bundles",
        n=len(rows),
        failures=sum(bool(row["problem"]) for row in rows) + (clean != [0, 5] * 3),
        control=len(fooled),
        control_n=len(rows),
        counts=Counter(f"exit {row['exit']} with gpg, {row['without_gpg']} without" for row in rows),
    )
    result.counts.update(f"`{row['forgery']}` fools the earlier verifier" for row in fooled if row["forgery"] in named)
    result.counts.update(f"wrong: {row['forgery']}: {row['problem']}" for row in rows if row["problem"])
    result.counts["genuine bundles: verified with gpg (0), open without (5)"] = clean.count(0) + clean.count(5)
    return result


if __name__ == "__main__":
    raise SystemExit(command_line(run, "P27", trials=2000))
