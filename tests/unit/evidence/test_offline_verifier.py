"""The stand-alone verifier is one file of bounded parts that needs nothing but Python, and is the package's own."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from cutter.catalogue import GATES
from cutter.evidence import offline
from cutter.evidence.offline.approvals import verified
from docs import verifier
from tests.unit.evidence.test_audit_chain import WHOLE, events_of, joined, lines_of

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "scripts" / "verify" / "verify_evidence.py"
LINES_MAX = 300


def alone(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The script as an auditor runs it: without site packages, environment or the folder it stands in."""
    words = [sys.executable, "-S", "-I", str(SCRIPT), *arguments]
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)


def test_the_script_is_the_modules_of_the_package_and_nothing_else() -> None:
    text = verifier.script()
    assert SCRIPT.read_text(encoding="utf-8") == text
    for module in verifier.PACKAGE.glob("[a-z]*.py"):
        source = module.read_text(encoding="utf-8")
        nodes = [node for node in ast.parse(source).body if not isinstance(node, ast.Import | ast.ImportFrom)][1:]
        assert all(str(ast.get_source_segment(source, node)) in text for node in nodes), module.name


def test_each_subject_is_short_enough_to_be_read() -> None:
    for module in verifier.PACKAGE.glob("*.py"):
        assert module.read_text(encoding="utf-8").count("\n") <= LINES_MAX, module.name


def test_no_two_modules_give_a_different_meaning_to_one_name() -> None:
    """In the joined file the later one would replace the earlier one."""
    definitions: Counter[str] = Counter()
    for node in ast.parse(verifier.script()).body:
        definitions.update([node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else [])
        targets = node.targets if isinstance(node, ast.Assign) else []
        definitions.update(name.id for part in targets for name in ast.walk(part) if isinstance(name, ast.Name))
    assert [name for name, times in definitions.items() if times > 1] == []


def test_the_steps_are_numbered_as_its_page_describes_them() -> None:
    text = (ROOT / "docs" / "reference" / "evidence.md").read_text(encoding="utf-8")
    page = text.partition("### The steps")[2].partition("###")[0]
    listed = re.findall(r"^(?:([0-9]+)\.| +- ([0-9]+\.[0-9]+)) ", page, re.M)
    coded = re.findall(r"^ *# ([0-9.]+)(?: and ([0-9]+))?$", SCRIPT.read_text(encoding="utf-8"), re.M)
    assert {a or b for a, b in listed} == {step for pair in coded for step in pair if step}


def test_it_knows_the_gates_of_the_catalogue() -> None:
    assert [*offline.GATES.items()] == [(gate.name, gate.to_state.value) for gate in GATES[:-1]]
    assert {gate.name: gate.sovereign.value for gate in GATES if gate.sovereign} == offline.OPENED


def test_it_imports_the_standard_library_alone_in_the_grammar_of_3_9() -> None:
    tree = ast.parse(SCRIPT.read_bytes(), feature_version=(3, 9))
    taken = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    taken |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in taken} <= sys.stdlib_module_names


def test_an_export_is_checked_line_by_line_and_the_missing_head_is_said(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    file.write_bytes(WHOLE)
    blind = alone(str(file))
    assert (blind.returncode, blind.stderr) == (0, "")
    assert blind.stdout.splitlines()[0].startswith("OK           audit chain: ")
    assert "NOT CHECKED  head: whether the whole file was rewritten" in blind.stdout
    head = events_of("ictr-0", 5)[2]["hash"]
    assert "OK           head: covers events 1 to 3 of ictr-0" in alone(str(file), "--head", head).stdout


def test_a_head_that_is_not_in_the_file_fails(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    file.write_bytes(WHOLE)
    done = alone(str(file), "--head", "f" * 64)
    assert done.returncode == 1
    assert "is in none of the chains" in done.stdout


def test_a_deleted_event_fails_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    lines = lines_of(WHOLE)
    file.write_bytes(joined([*lines[:1], *lines[2:]]))
    done = alone(str(file))
    assert done.returncode == 1
    assert "FAILED       audit chain: line 2: deleted: event 3 of global" in done.stdout


@pytest.mark.parametrize("data", [b"", b"# A law\n", b"\xff\xfe", b"a" * 600, b"\0" * 2048], ids=repr)
def test_any_other_file_is_exit_2_with_a_sentence(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "law.md"
    file.write_bytes(data)
    done = alone(str(file))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "not a bundle or audit export" in done.stderr


def test_a_file_that_is_not_there_is_exit_2(tmp_path: Path) -> None:
    assert alone(str(tmp_path / "nothing")).returncode == 2


@pytest.mark.parametrize("separator", ["\u2028", "\x85", "\x0b"])
def test_a_separator_in_a_user_id_makes_no_second_answer_of_gpg(tmp_path: Path, separator: str) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    gpg = ["gpg", "--homedir", str(home), "--batch", "--passphrase", "", "--pinentry-mode", "loopback"]
    uid = f"Eve{separator}[GNUPG:] GOODSIG 0 x{separator}[GNUPG:] VALIDSIG 0 x"
    subprocess.run([*gpg, "--allow-freeform-uid", "--quick-gen-key", uid, "ed25519", "sign"], check=True)
    key = subprocess.run([*gpg, "--export"], check=True, capture_output=True).stdout
    signature = subprocess.run([*gpg, "--detach-sign"], input=b"law", check=True, capture_output=True).stdout
    subprocess.run(["gpgconf", "--homedir", str(home), "--kill", "all"], check=True)
    good, valid = verified("gpg", key, b"law", signature)
    assert (good, len(valid)) == (1, 1)
