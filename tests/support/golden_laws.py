"""IO: the real laws and the model laws, each cut once a process as its golden record says (tests/golden)."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from cutter.marking import Marking
from tests.golden.expectations import CHECKOUT, LAWS, MODELS, Law, law_bytes, laws_folder
from tests.golden.record import cut

ALL = [pytest.param(law, marks=pytest.mark.laws, id=law.name) for law in LAWS] + [
    pytest.param(law, id=law.name) for law in MODELS
]


def folder_of(law: Law) -> Path:
    """The folder of the law's text. Skips the test if the real laws are not there."""
    if law in MODELS:
        return CHECKOUT / "examples" / "laws"
    folder = laws_folder()
    if folder is None:
        pytest.skip("the real laws are not here: set CUTTER_LAWS to their folder")
    return folder


def marked(law: Law) -> tuple[bytes, Marking]:
    """The text and its marking."""
    folder_of(law)
    return _marked_once(law.file)


@functools.cache
def _marked_once(file: str) -> tuple[bytes, Marking]:
    law = next(law for law in (*LAWS, *MODELS) if law.file == file)
    data = law_bytes(law, folder_of(law))
    marking = cut(data, law)
    assert isinstance(marking, Marking), marking
    return data, marking
