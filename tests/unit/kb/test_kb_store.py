"""The store: write-once, confined, whole or absent, and honest about an outage."""

from __future__ import annotations

import errno
import os
import threading
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fsspec import register_implementation
from fsspec.implementations.memory import MemoryFileSystem

from cutter import limits
from cutter.domain.digests import sha256_hex
from cutter.domain.ids import InvalidId
from cutter.errors import Conflict, CutterError, InvalidInput, NotFound, Unavailable
from cutter.kb.ids import artifact_id_rule
from cutter.kb.objects import LocalFolder
from cutter.kb.store import Store
from cutter.kb.write_once import draft, put, put_first


@pytest.fixture(params=["path", "file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    url = {
        "path": str(tmp_path / "kb"),
        "file": (tmp_path / "kb").as_uri(),
        "memory": f"memory://kb-{uuid.uuid4().hex}",
    }[request.param]
    return Store(url)


@pytest.fixture
def local(tmp_path: Path) -> Store:
    return Store((tmp_path / "kb").as_uri())


def test_what_is_put_comes_back_with_its_digest(store: Store) -> None:
    assert put(store, "a/b/c.md", b"text") == sha256_hex(b"text")
    assert store.get("a/b/c.md", limit=4) == b"text"
    assert store.exists("a/b/c.md")


def test_the_same_bytes_again_are_fine(store: Store) -> None:
    assert put(store, "a/b.md", b"text") == put(store, "a/b.md", b"text")


def test_other_bytes_refuse_and_name_both_digests(store: Store) -> None:
    put(store, "a/b.md", b"text")
    with pytest.raises(Conflict) as caught:
        put(store, "a/b.md", b"other")
    assert sha256_hex(b"text") in str(caught.value)
    assert sha256_hex(b"other") in str(caught.value)
    assert store.get("a/b.md", limit=10) == b"text"


def test_an_empty_object_is_an_object(store: Store) -> None:
    put(store, "a/b.md", b"")
    assert store.get("a/b.md", limit=0) == b""
    with pytest.raises(Conflict):
        put(store, "a/b.md", b"x")


def test_what_is_not_there_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        store.get("a/b.md", limit=10)
    assert not store.exists("a/b.md")
    assert store.list("a/") == []


def test_a_limit_is_kept_to_the_byte(store: Store) -> None:
    put(store, "a/b.md", b"12345")
    assert store.get("a/b.md", limit=5) == b"12345"
    with pytest.raises(InvalidInput) as caught:
        store.get("a/b.md", limit=4)
    assert caught.value.code == "kb_too_large"


def test_too_large_an_object_is_not_put(store: Store) -> None:
    with pytest.raises(InvalidInput):
        put(store, "a/b.md", bytes(limits.KB_OBJECT_BYTES_MAX + 1))
    assert not store.exists("a/b.md")


def test_a_listing_is_sorted_and_by_prefix(store: Store) -> None:
    for name in ("a/2.md", "a/1.md", "a/1.md.asc", "a/b/3.md", "ab/4.md", "5.md"):
        put(store, name, b"x")
    assert store.list("a/") == ["a/1.md", "a/1.md.asc", "a/2.md", "a/b/3.md"]
    assert store.list("a/1") == ["a/1.md", "a/1.md.asc"]
    assert store.list("a") == ["a/1.md", "a/1.md.asc", "a/2.md", "a/b/3.md", "ab/4.md"]
    assert len(store.list("")) == 6


BAD_IDS = [
    "", ".md", "/a.md", "../a.md", "a/../b.md", "a/./b.md", "a//b.md", "a/b.md/", "a", "a.txt", "a.md\n", "a b.md",
    "a\\b.md", "é.md", "a\x00.md", ".hidden/a.md", "a/.part-1.md", "file:///etc/a.md", "~/a.md", "a.asc",
    "a.md.asc.asc", "x" * 600 + ".md",
]  # fmt: skip


@pytest.mark.parametrize("name", BAD_IDS)
def test_names_are_confined(store: Store, name: str) -> None:
    operations: list[Callable[[], object]] = [
        lambda: put(store, name, b"x"),
        lambda: store.get(name, limit=10),
        lambda: store.exists(name),
        lambda: draft(store, name).__enter__(),
    ]
    for operation in operations:
        with pytest.raises(InvalidId):
            operation()


def test_another_rule_admits_other_artifacts(tmp_path: Path) -> None:
    artifacts = Store(str(tmp_path / "artifacts"), id_rule=artifact_id_rule, what="artifacts")
    assert put(artifacts, "runs/r1/pre_write.gpg", b"x") == sha256_hex(b"x")
    for name in ("../x", "/x", "a/.part-1", ".x", "a b", ""):
        with pytest.raises(InvalidId):
            put(artifacts, name, b"x")


def test_a_link_out_of_the_store_is_not_followed(local: Store, tmp_path: Path) -> None:
    root = tmp_path / "kb"
    secret = tmp_path / "secret.md"
    secret.write_bytes(b"secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.md").write_bytes(b"secret")
    (root / "link.md").symlink_to(secret)
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "dangling.md").symlink_to(tmp_path / "nothing.md")
    for name in ("link.md", "folder/x.md", "dangling.md"):
        with pytest.raises(InvalidInput) as caught:
            local.get(name, limit=100)
        assert caught.value.code == "kb_not_regular"
    for name in ("folder/new.md", "link.md", "dangling.md"):
        with pytest.raises(InvalidInput):
            put(local, name, b"x")
    assert secret.read_bytes() == b"secret"
    assert not (tmp_path / "nothing.md").exists()
    assert os.listdir(tmp_path / "outside") == ["x.md"]
    assert local.list("") == []


def test_a_pipe_or_a_folder_is_no_document_and_does_not_hang(local: Store, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "kb" / "pipe.md")
    (tmp_path / "kb" / "folder.md").mkdir()
    for name in ("pipe.md", "folder.md"):
        with pytest.raises(InvalidInput) as caught:
            local.get(name, limit=10)
        assert caught.value.code == "kb_not_regular"


def test_a_failed_put_leaves_nothing_under_any_name(
    local: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "link", full)
    with pytest.raises(Unavailable) as caught:
        put(local, "a/b.md", b"x")
    assert caught.value.what == "kb"
    assert os.listdir(tmp_path / "kb" / "a") == []


def test_an_object_under_construction_is_invisible(local: Store, tmp_path: Path) -> None:
    put(local, "a/b.md", b"x")
    (tmp_path / "kb" / "a" / ".part-1.md").write_bytes(b"half")
    assert local.list("") == ["a/b.md"]
    with pytest.raises(InvalidId):
        local.get("a/.part-1.md", limit=10)


def test_of_many_writers_of_one_name_one_wins_and_readers_see_it_whole(local: Store) -> None:
    bodies = [bytes([number]) * 200_000 for number in range(8)]
    barrier = threading.Barrier(8)

    def write(body: bytes) -> bool:
        barrier.wait(timeout=10)
        try:
            put(local, "a/b.md", body)
        except Conflict:
            return False
        assert local.get("a/b.md", limit=200_000) == body
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(write, bodies)) == 1
    assert local.get("a/b.md", limit=200_000) in bodies


def test_a_root_that_is_gone_is_an_outage_and_is_not_made_anew(local: Store, tmp_path: Path) -> None:
    put(local, "a/b.md", b"x")
    (tmp_path / "kb").rename(tmp_path / "away")
    operations: list[Callable[[], object]] = [
        lambda: put(local, "a/c.md", b"x"),
        lambda: local.get("a/b.md", limit=10),
        lambda: local.exists("a/b.md"),
        lambda: local.list(""),
    ]
    for operation in operations:
        with pytest.raises(Unavailable) as caught:
            operation()
        assert caught.value.what == "kb"
    assert not (tmp_path / "kb").exists()
    (tmp_path / "away").rename(tmp_path / "kb")
    assert local.get("a/b.md", limit=10) == b"x"


def test_a_file_in_the_place_of_the_root_is_an_outage(tmp_path: Path) -> None:
    (tmp_path / "kb").write_bytes(b"")
    with pytest.raises(Unavailable) as caught:
        Store((tmp_path / "kb").as_uri(), what="artifacts", id_rule=artifact_id_rule)
    assert caught.value.what == "artifacts"


def test_a_root_that_became_a_file_is_an_outage(local: Store, tmp_path: Path) -> None:
    (tmp_path / "kb").rmdir()
    (tmp_path / "kb").write_bytes(b"")
    with pytest.raises(Unavailable):
        local.get("a/b.md", limit=10)


def test_an_input_output_error_is_an_outage(local: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bytes:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(LocalFolder, "read", broken)
    with pytest.raises(Unavailable):
        local.exists("a/b.md")


class _LosesAnswers(MemoryFileSystem):
    """A remote store whose puts come through while their answers are lost."""

    protocol = "loses"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        super().pipe_file(path, value, mode=mode, **kwargs)
        raise OSError(errno.ECONNRESET, "Connection reset by peer")


def test_a_remote_put_whose_answer_was_lost_is_done_and_a_foreign_one_conflicts() -> None:
    register_implementation("loses", _LosesAnswers, clobber=True)
    store = Store("loses://kb")
    assert put(store, "a/b.md", b"x") == sha256_hex(b"x")
    with pytest.raises(Conflict):
        put(store, "a/b.md", b"y")


class _Overwrites(MemoryFileSystem):
    """A remote store that has no create-only mode."""

    protocol = "overwrites"
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        assert mode == "create"
        super().pipe_file(path, value, mode="overwrite", **kwargs)


def test_a_remote_store_without_a_create_only_mode_is_not_written_over() -> None:
    register_implementation("overwrites", _Overwrites, clobber=True)
    store = Store("overwrites://kb")
    put(store, "a/b.md", b"x")
    with pytest.raises(Conflict):
        put(store, "a/b.md", b"y")
    assert store.get("a/b.md", limit=1) == b"x"


def test_a_folder_is_no_document_in_any_store(store: Store) -> None:
    put(store, "folder.md/b.md", b"x")
    with pytest.raises(InvalidInput) as caught:
        store.get("folder.md", limit=10)
    assert caught.value.code == "kb_not_regular"


def test_an_unknown_kind_of_url_is_said_at_once() -> None:
    with pytest.raises(CutterError):
        Store("nosuchscheme://x/y")


NAMES = ("a/b.md", "a/b-other2.md", "a/b-other3.md")


def test_what_finds_its_name_taken_goes_under_the_next_one(store: Store) -> None:
    put(store, NAMES[0], b"a stranger's")
    assert put_first(store, NAMES, b"text") == (NAMES[1], sha256_hex(b"text"))
    assert put_first(store, NAMES, b"text") == (NAMES[1], sha256_hex(b"text"))
    assert store.get(NAMES[0]) == b"a stranger's"


def test_when_every_name_is_taken_the_last_reason_is_told(store: Store) -> None:
    for name in NAMES:
        put(store, name, b"a stranger's")
    with pytest.raises(Conflict, match="b-other3"):
        put_first(store, NAMES, b"text")


@pytest.mark.parametrize("how", ["link", "folder", "file"])
def test_a_name_is_taken_by_whatever_has_it(local: Store, how: str) -> None:
    put(local, "a/x.md", b"x")
    path = local.objects.root / "a" / "b.md"  # type: ignore[attr-defined]
    if how == "link":
        path.symlink_to("/nonexistent")
    elif how == "folder":
        path.mkdir()
    else:
        path.write_bytes(b"a stranger's")
    assert local.taken(NAMES[0])
    assert not local.taken(NAMES[1])
    assert put_first(local, NAMES, b"text")[0] == NAMES[1]
