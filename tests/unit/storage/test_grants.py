"""The file of grants holds no privilege that a reader of the file would not expect."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from cutter.catalogue import Role
from cutter.storage import roles


def repeated(text: str) -> Iterator[str]:
    """The keys that a mapping has twice. YAML keeps the last of them without a word."""
    waiting = [yaml.compose(text)]
    while waiting:
        match waiting.pop():
            case yaml.MappingNode(value=pairs):
                keys = [key.value for key, _ in pairs]
                yield from sorted({key for key in keys if keys.count(key) > 1})
                waiting += [value for _, value in pairs]
            case yaml.SequenceNode(value=parts):
                waiting += parts


def test_no_key_of_the_grants_stands_twice() -> None:
    assert list(repeated(roles.grants_text())) == []


@pytest.mark.parametrize("text", ["a: 1\na: 2", "roles: {cutter_exec: {EXECUTE: [f], EXECUTE: [g]}}"])
def test_a_key_that_stands_twice_is_found(text: str) -> None:
    assert list(repeated(text))


def test_every_role_but_the_owner_has_its_grants() -> None:
    assert set(roles.declared_grants().roles) == set(Role) - {Role.OWNER}
