"""Pure: the words that a printed command has in the place of a person's own. No command takes one as an answer."""

from __future__ import annotations

from typing import Any

from cutter.errors import InvalidInput

_FILE, _REASON, _APPROVER = "a file of yours", "a reason in your own words", "a name and the file of its public key"
STANDS_FOR = {
    "TEXT": _REASON, "say why": _REASON, "DOCUMENT": "an id that you choose, such as ICX-LAW-2026-001",
    "PROFILE": "the name of a profile, or a YAML file", "FILE": _FILE, "QUEUE": _FILE, "NAME=KEY": _APPROVER,
    "NAME=KEY.asc": _APPROVER, "ID": "the id of a batch", "SHA256": "the digest of an approval",
    "URL": "the address of a database",
}  # fmt: skip
"""Each such word, and what a person types in its place."""

_WORDS_OF_A_LAW = "forbid"
"""The option whose value can be any word of a heading, so also one of these."""


def refuse_in(command: Any) -> None:
    """Make every option of the command refuse them. An argument names what exists, and a law may be searched for one
    of these words.
    """
    for option in command.params:
        if option.param_type_name == "option" and option.name != _WORDS_OF_A_LAW and option.callback is None:
            option.callback = _required_own


def _required_own(_: Any, option: Any, value: Any) -> Any:
    """The value of an option as it was given. Raises InvalidInput for a word that stands for something else."""
    for given in value if isinstance(value, list | tuple) else (value,):
        word = str(given).strip()
        if word in STANDS_FOR:
            raise InvalidInput(f"{option.opts[0]} {word}: this word stands for {STANDS_FOR[word]}; type that instead")
    return value
