"""IO: where a text may be left: the payloads of a history, and the files of a folder."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


def decoded(value: Any) -> Iterator[str]:
    """Every string in a history that is base64 of text, decoded: payloads are written so."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from decoded(item)
    elif isinstance(value, str):
        with suppress(ValueError):
            yield base64.b64decode(value, validate=True).decode("utf-8")


def files(folder: Path) -> Iterator[Path]:
    """Regular files below a folder, which may change meanwhile."""
    for root, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(root, name)
            if path.is_file() and not path.is_symlink():
                yield path
