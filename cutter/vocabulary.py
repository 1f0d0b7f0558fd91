"""IO: reads a file of words for the vocabularies of profiles, and adds these words to a deployment."""

from __future__ import annotations

import getpass
import re

from psycopg.types.json import Jsonb

from cutter import plain_yaml
from cutter.catalogue import Role
from cutter.errors import InvalidInput
from cutter.limits import VOCABULARY_BYTES_MAX
from cutter.plain_yaml import FieldReader, Scalar, Wrong
from cutter.settings import Settings
from cutter.storage.gate_transaction import call
from cutter.storage.pools import session

SCHEMA = "cutter-words/1"
FAMILIES = ("owner", "publication_type", "unit_kind")
"""The vocabularies that an operator may extend. The types of sections are fixed, because the marking gives them."""

_WORD = re.compile(r"[a-z][a-z0-9_-]{0,47}")

Words = dict[str, tuple[str, ...]]


def parse_words(data: bytes) -> Words:
    """The words of each vocabulary in a file. Raises InvalidInput with the line and the field."""
    node = plain_yaml.load(data, bytes_max=VOCABULARY_BYTES_MAX)
    try:
        root = FieldReader(node, "words", ("schema", *FAMILIES), path="words")
        schema = root.node("schema")
        if not isinstance(schema, Scalar) or schema.text != SCHEMA:
            root.fail("schema", f"must be {SCHEMA}")
        return {family: _words(root, family) for family in FAMILIES if root.has(family)}
    except Wrong as problem:
        raise InvalidInput(f"words {problem}") from None


def _words(root: FieldReader, family: str) -> tuple[str, ...]:
    words = []
    for item in root.items(family):
        if not isinstance(item, Scalar) or not _WORD.fullmatch(item.text):
            root.fail(family, "each word has a-z, 0-9, '_' and '-', at most 48, a letter first")
        words.append(item.text)
    return tuple(words)


def extend(settings: Settings, words: Words) -> tuple[tuple[str, str], ...]:
    """Add the words as the operator. Return the new pairs of vocabulary and word."""
    with session(settings, Role.OPERATOR) as connection:
        answer = call(
            connection, dict, "select cutter_governance.fn_vocabulary_extend(%s, %s)",
            (Jsonb({family: list(codes) for family, codes in words.items()}), getpass.getuser()),
        )  # fmt: skip
    return tuple((family, code) for family, code in answer["added"])
