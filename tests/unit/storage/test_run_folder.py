"""A run's folder: locked against other processes and threads, each file whole, the same call twice changes nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cutter.domain.run_record import RunSidecar
from cutter.errors import Refused, Unavailable
from cutter.projections import run_folder
from cutter.settings import Settings
from tests.unit.domain.test_sidecar import RUN, database, event

HOLDER = """
import fcntl, sys
with open(sys.argv[1], "a") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def held_elsewhere(lock: Path) -> Iterator[None]:
    """Another process has the lock."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        try:
            yield
        finally:
            holder.stdin.close()
            holder.wait()


def test_the_folder_has_the_state_the_transitions_and_the_reports(tmp_path: Path) -> None:
    """Seed 000 §5."""
    answer = database("source_pinned", 1, transitions=[event(1, "pending", "source_pinned")])
    folder = run_folder.write(tmp_path, RUN, RunSidecar.of(answer), {"phase-01.md": b"# report\n"})
    assert folder == tmp_path / RUN
    assert json.loads((folder / "state.json").read_bytes())["state"] == "source_pinned"
    assert (folder / "transitions.jsonl").read_text().count("document_run_state_transition") == 1
    assert (folder / "phase-01.md").read_bytes() == b"# report\n"
    assert sorted(file.name for file in folder.iterdir()) == [
        "phase-01.md", "state.json", "state.lock", "transitions.jsonl",
    ]  # fmt: skip


def test_the_seeds_variables_say_where_the_folders_of_runs_and_batches_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seed 000 §5, 001 §8."""
    default = Settings(state_dir=tmp_path)
    assert (default.runs, default.batches) == (tmp_path / "runs", tmp_path / "batches")
    monkeypatch.setenv("CUTTER_RUNS_DIR", str(tmp_path / "a"))
    monkeypatch.setenv("CUTTER_BATCH_DIR", str(tmp_path / "b"))
    chosen = Settings(state_dir=tmp_path)
    assert (chosen.runs, chosen.batches) == (tmp_path / "a", tmp_path / "b")


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Inode and time of each file but the lock."""
    files = [file for file in folder.iterdir() if file.suffix != ".lock"]
    return {file.name: (file.stat().st_ino, file.stat().st_mtime_ns) for file in files}


def test_the_same_call_again_touches_no_file(tmp_path: Path) -> None:
    folder = run_folder.write(tmp_path, RUN, RunSidecar.of(database()), {"phase-01.md": b"x"})
    before = stamps(folder)
    run_folder.write(tmp_path, RUN, RunSidecar.of(database()), {"phase-01.md": b"x"})
    assert stamps(folder) == before


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """The new content comes under a name of its own: who has the old file open keeps all of it."""
    folder = run_folder.write(tmp_path, RUN, RunSidecar.of(database()))
    with (folder / "state.json").open("rb") as open_before:
        run_folder.write(tmp_path, RUN, RunSidecar.of(database("source_pinned", 1)))
        assert json.loads(open_before.read())["state"] == "pending"
    assert run_folder.read_state(tmp_path, RUN)["state"] == "source_pinned"


def test_a_second_process_that_holds_the_lock_makes_the_run_busy(tmp_path: Path) -> None:
    """Seeds 000 §5, 000 §7."""
    run_folder.write(tmp_path, RUN, RunSidecar.of(database()))
    with held_elsewhere(tmp_path / RUN / "state.lock"):
        with pytest.raises(Refused) as caught:
            run_folder.write(tmp_path, RUN, RunSidecar.of(database("source_pinned", 1)), lock_seconds=0.1)
        assert caught.value.code == "STOP_RUN_BUSY"
        assert run_folder.read_state(tmp_path, RUN)["state"] == "pending"
    run_folder.write(tmp_path, RUN, RunSidecar.of(database("source_pinned", 1)))
    assert run_folder.read_state(tmp_path, RUN)["state"] == "source_pinned"


def test_a_lock_that_is_given_up_in_time_is_waited_for(tmp_path: Path) -> None:
    """Seed 000 §7."""
    with held_elsewhere(tmp_path / RUN / "state.lock"):
        writer = threading.Thread(target=run_folder.write, args=(tmp_path, RUN, RunSidecar.of(database())))
        writer.start()
        assert not (tmp_path / RUN / "state.json").exists()
    writer.join(timeout=10)
    assert run_folder.read_state(tmp_path, RUN)["state"] == "pending"


def test_threads_of_one_process_do_not_write_at_once(tmp_path: Path) -> None:
    answers = [RunSidecar.of(database(*case)) for case in (("source_pinned", 1), ("marked", 2))] * 8
    threads = [threading.Thread(target=run_folder.write, args=(tmp_path, RUN, answer)) for answer in answers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert run_folder.read_state(tmp_path, RUN)["state"] in ("source_pinned", "marked")
    assert [file.name for file in (tmp_path / RUN).iterdir() if file.name.startswith(".")] == []


def test_a_run_that_is_busy_in_this_process_is_busy_too(tmp_path: Path) -> None:
    with run_folder._in_this_process, pytest.raises(Refused, match="another process"):
        run_folder.write(tmp_path, RUN, RunSidecar.of(database()), lock_seconds=0.05)


def test_a_folder_that_cannot_be_made_is_unavailable_and_not_our_bug(tmp_path: Path) -> None:
    (tmp_path / RUN).write_text("a file in the way")
    with pytest.raises(Unavailable) as caught:
        run_folder.write(tmp_path, RUN, RunSidecar.of(database()))
    assert caught.value.what == "run_folder"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_unavailable_and_leaves_the_old_file(tmp_path: Path) -> None:
    folder = run_folder.write(tmp_path, RUN, RunSidecar.of(database()))
    (folder / f".state.json.{os.getpid()}").symlink_to("/dev/full")
    with pytest.raises(Unavailable, match="ENOSPC"):
        run_folder.write(tmp_path, RUN, RunSidecar.of(database("source_pinned", 1)))
    assert run_folder.read_state(tmp_path, RUN)["state"] == "pending"


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]", b"\xff"])
def test_a_state_that_is_missing_or_broken_reads_as_empty(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / RUN).mkdir()
        (tmp_path / RUN / "state.json").write_bytes(content)
    assert run_folder.read_state(tmp_path, RUN) == {}
