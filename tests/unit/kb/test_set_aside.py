"""An object that is set aside keeps its bytes under a name that no list shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from cutter.errors import Conflict, NotFound
from cutter.kb import write_once
from cutter.kb.store import Store

NAME = "knowledge/dev/a.md"


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(tmp_path.as_uri() if request.param == "file" else f"memory://{tmp_path.name}")


def test_the_bytes_stay_and_the_name_is_free(store: Store) -> None:
    write_once.put(store, NAME, b"lost")
    aside = write_once.set_aside(store, NAME)
    assert b"".join(store.objects.chunks(aside)) == b"lost"
    assert (store.exists(NAME), store.list("")) == (False, [])
    write_once.put(store, NAME, b"again")


def test_a_second_object_of_one_name_replaces_none(store: Store) -> None:
    kept = []
    for data in (b"one", b"two", b"one"):
        write_once.put(store, NAME, data)
        kept.append(write_once.set_aside(store, NAME))
    assert kept[0] == kept[2] != kept[1]
    assert [b"".join(store.objects.chunks(name)) for name in kept[:2]] == [b"one", b"two"]


def test_an_object_stays_if_its_copy_has_other_bytes(store: Store) -> None:
    write_once.put(store, NAME, b"lost")
    aside = write_once.set_aside(store, NAME)
    store.objects.remove(aside)
    store.objects.create(aside, b"damaged")
    write_once.put(store, NAME, b"lost")
    with pytest.raises(Conflict):
        write_once.set_aside(store, NAME)
    assert store.get(NAME) == b"lost"


def test_an_absent_object_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        write_once.set_aside(store, NAME)
