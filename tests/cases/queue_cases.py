"""Pure: queue files: well-formed ones of every form that is allowed, and hostile ones made from them.

A hostile file is a well-formed one with one thing in it that no queue may have, so that nothing else gets it refused.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.cases.trials import Dice

ITEMS_MAX = 100
BYTES_MAX = 64 * 1024

LINE = "created_by: ops@example"
"""Where most of the hostile things are put: this line of every file is written plainly."""

FIRST = "  - document_id: P19-LAW-00000"
"""So is the first document's."""

Case = Callable[[Dice, str], str]


# --- well-formed ------------------------------------------------------------------------------------------------------


def good(dice: Dice, most: int = 40) -> str:
    """A queue of 1 to `most` documents, its fields in any order, plain or quoted, with comments and empty lines."""
    fields = [
        f"schema_version: {_quoted(dice, '1')}",
        f"batch_id: {_quoted(dice, f'0199f1de-7c3d-7{dice.below(4096):03x}-8a9b-{dice.below(1 << 48):012x}')}",
        LINE,
        f"created_utc: {_quoted(dice, f'2026-11-{dice.between(10, 28)}T{dice.between(10, 23)}:00:00Z')}",
    ]
    fields += ["default_scope: enacted_only"][: dice.below(2)] + ["default_actor: a.person@example"][: dice.below(2)]
    lines = [line for _ in range(len(fields)) for line in (fields.pop(dice.below(len(fields))), *_aside(dice))]
    names: list[str] = []
    lines.append("items:")
    for number in range(dice.between(1, most)):
        lines += _item(dice, number, names)
        names.append(f"P19-LAW-{number:05}")
    return "\n".join([*lines, ""])


def _item(dice: Dice, number: int, before: list[str]) -> list[str]:
    name = f"P19-LAW-{number:05}"
    lines = [f"  - document_id: {_quoted(dice, name) if number else name}"]
    needs = sorted({dice.choose(before) for _ in range(dice.below(3))}) if before else []
    written = f"[{', '.join(needs)}]" if dice.below(2) else "".join(f"\n      - {need}" for need in needs) or "[]"
    optional = [
        f"source_uri: {dice.choose(['null', '~', '', f'https://example.org/laws/{number}?lang=vi#top'])}",
        f"priority: {dice.below(10_000)}", f"critical: {dice.choose(['true', 'false'])}",
        f"tenant: {_quoted(dice, 'north')}", f"marking_profile: {_quoted(dice, 'generic-markdown')}",
        f"depends_on: {written}",
    ]  # fmt: skip
    lines += [f"    {line}" for line in optional if dice.below(2)]
    return lines + _aside(dice)


def _quoted(dice: Dice, text: str) -> str:
    return dice.choose(["{}", "'{}'", '"{}"']).format(text)


def _aside(dice: Dice) -> list[str]:
    return dice.choose([[], [], [""], ["# Luật đường sắt, в очереди, قانون"], ["  # urgent: the council waits for it"]])


# --- hostile ----------------------------------------------------------------------------------------------------------


def _instead(text: str, old: str, new: str) -> str:
    changed = text.replace(old, new, 1)
    assert changed != text
    return changed


def _before(text: str, line: str) -> str:
    return _instead(text, LINE, f"{line}\n{LINE}")


def _needs(text: str, value: str) -> str:
    """A document more whose dependencies are that value."""
    return f"{text}  - document_id: P19-LAW-99999\n    depends_on: {value}\n"


def laughs(dice: Dice, text: str) -> str:
    """Each list holds the one before several times: ten to the sixth and more when written out."""
    width, height = dice.between(8, 12), dice.between(6, 8)
    lists = ["a0: &a0 [P19-LAW-00000, P19-LAW-00000]"]
    lists += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * width)}]" for n in range(1, height)]
    return _needs(_before(text, "\n".join(lists)), f"*a{height - 1}")


def quadratic(dice: Dice, text: str) -> str:
    """One long text, named many times."""
    long = "\n    ".join(["lorem ipsum " * 300] * dice.between(6, 8))
    return _needs(_before(text, f'long: &a "{long}"'), f"[{', '.join(['*a'] * dice.between(6_000, 8_000))}]")


def merges(dice: Dice, text: str) -> str:
    """Merge keys that each double what is merged."""
    steps = dice.between(18, 22)
    lines = [f"m{n}: &m{n} {{<<: [*m{n - 1}, *m{n - 1}], k{n}: x}}" for n in range(1, steps)]
    return _before(text, "\n".join(["m0: &m0 {k: x}", *lines]))


def circle(dice: Dice, text: str) -> str:
    """As many dependencies as a queue has room for, in circles."""
    names = [f"C-{number:02}" for number in range(dice.between(70, 80))]
    needs = {name: [other for other in names if other != name] for name in names}
    return text + "".join(f"  - document_id: {name}\n    depends_on: [{', '.join(needs[name])}]\n" for name in names)


def slow_lines(dice: Dice, text: str) -> str:
    """Lines over which a search for secrets could go back and forth; the last holds one."""
    piece = dice.choose(
        ["://a", "://:", "pwd-", "secret_", "-----    ", "eyJ" + "a" * 500, "aA0", "bearer    a", "b+b"]
    )
    line = "# " + piece * (4_000 // len(piece))
    return _before(text, "\n".join([line] * dice.between(4, 8) + ["# password: hunter2"]))


def flaws(dice: Dice, text: str) -> str:
    """Thousands of mistakes."""
    return _before(text, dice.choose(["k: v\n", "? [k]\n", "k: !x v\n", "k: |\n  v\n"]) * dice.between(2_000, 4_000))


TAGS = (
    "!!str", "!!int", "!!binary", "!!python/name:os.system", "!!python/object/apply:os.system", "!local", "!",
    "!<tag:yaml.org,2002:str>", "!!python/object/new:type", "!!timestamp", "!!null",
)  # fmt: skip


def tagged_value(dice: Dice, text: str) -> str:
    return _instead(text, LINE, LINE.replace(": ", f": {dice.choose(TAGS)} "))


def tagged_key(dice: Dice, text: str) -> str:
    return _instead(text, LINE, f"{dice.choose(TAGS)} {LINE}")


def tagged_list(dice: Dice, text: str) -> str:
    return _instead(text, "\nitems:", f"\nitems: {dice.choose(['!!seq', '!!omap', '!!pairs', '!!set', '!list'])}")


def tagged_item(dice: Dice, text: str) -> str:
    return _instead(text, FIRST, FIRST.replace("- ", f"- {dice.choose(['!!map', '!!python/dict', '!item'])}\n    "))


def named_handle(dice: Dice, text: str) -> str:
    handle = f"!{dice.choose(['e', 'py', 'x1'])}!"
    text = _instead(text, LINE, LINE.replace(": ", f": {handle}name:os.system "))
    return f"%TAG {handle} tag:yaml.org,2002:python/\n---\n{text}"


def field_twice(dice: Dice, text: str) -> str:
    return _before(text, "created_by: " + dice.choose(["me", "ops@example", "'ops@example'"]))


def item_field_twice(_: Dice, text: str) -> str:
    return _instead(text, FIRST, f"{FIRST}\n    document_id: P19-LAW-00000")


def escaped_key_twice(dice: Dice, text: str) -> str:
    """The same field in letters that a search does not see."""
    return _before(text, dice.choose(['"created\\x5fby": me', '"\\u0063reated_by": me', "'created_by': me"]))


def merged_key(dice: Dice, text: str) -> str:
    return _before(text, dice.choose(["<<: {created_by: me}", "'<<': {created_by: me}", "<<: [{created_by: me}]"]))


def document_twice(dice: Dice, text: str) -> str:
    return text + "  - document_id: " + _quoted(dice, "P19-LAW-00000") + "\n"


def need_twice(_: Dice, text: str) -> str:
    return _needs(text, "[P19-LAW-00000, 'P19-LAW-00000']")


def second_file(dice: Dice, text: str) -> str:
    return text + dice.choose(["---\n", "...\n---\n"]) + dice.choose(["", "{}\n", text])


HIDDEN = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
UNSEEN = HIDDEN + "\u200b\u200c\u200d\u2060\ufeff\u00ad"
ALIKE = "АЕОРСＡ１‐−"
"""Of other alphabets, or no hyphens, and look the same."""


def in_an_id(dice: Dice, text: str) -> str:
    place = dice.between(0, 8)
    sign = dice.choose(UNSEEN + ALIKE)
    return f"{text}  - document_id: {'P19-LAW-8'[:place]}{sign}{'P19-LAW-8'[place:]}\n"


def in_a_field(dice: Dice, text: str) -> str:
    return _instead(text, LINE, LINE.replace("_", "_" + dice.choose(UNSEEN)))


def in_a_value(dice: Dice, text: str) -> str:
    """As it is, or as an escape."""
    sign = dice.choose(UNSEEN + ALIKE)
    written = sign if dice.below(2) else f"\\u{ord(sign):04x}"
    return _instead(text, LINE, f'created_by: "ops{written}@example"')


def in_a_need(dice: Dice, text: str) -> str:
    return _needs(text, f'["P19-LAW-0000{dice.choose(UNSEEN)}0"]')


def in_a_comment(dice: Dice, text: str) -> str:
    """What is shown last is not what stands last."""
    return _instead(text, LINE, f"{LINE} # {dice.choose(HIDDEN)}" + dice.choose(["eurt :lacitirc", "}", "-"]))


def hidden_line(dice: Dice, text: str) -> str:
    """A comment that has a field behind an end of line that is not shown as one."""
    return _instead(text, FIRST, f"{FIRST} # done{dice.choose(chr(0x2028) + chr(0x2029) + chr(0x85) + chr(13))}    "
                    f"{dice.choose(['critical: true', 'priority: 0'])}\n    # more")  # fmt: skip


def flow_lists(dice: Dice, text: str) -> str:
    depth = dice.between(4, 1_900)
    return _needs(text, "[" * depth + "P19-LAW-00000" + "]" * depth)


def flow_fields(dice: Dice, text: str) -> str:
    depth = dice.between(5, 900)
    return _before(text, "x: " + "{a: " * depth + "b" + "}" * depth)


def block_lists(dice: Dice, text: str) -> str:
    return _needs(text, "\n      " + "- " * dice.between(4, 1_900) + "P19-LAW-00000")


def block_fields(dice: Dice, text: str) -> str:
    lines = [" " * depth + "a:" for depth in range(dice.between(6, 250))]
    return _before(text, "\n".join([*lines, " " * len(lines) + "b"]))


def open_lists(dice: Dice, text: str) -> str:
    """Never closed; a list a line, so that no line is long."""
    return _needs(text, "[\n       " * dice.between(10, 5_000))


def deep_key(dice: Dice, text: str) -> str:
    depth = dice.between(5, 1_000)
    return _before(text, "? " + "[" * depth + "]" * depth + "\n: x")


def many_bytes(dice: Dice, text: str) -> str:
    return text + ("# " + "x" * 1_000 + "\n") * dice.between(66, 2_000)


def many_documents(dice: Dice, text: str) -> str:
    return text + "".join(f"  - document_id: S-{number:05}\n" for number in range(dice.between(ITEMS_MAX, 1_500)))


def long_line(dice: Dice, text: str) -> str:
    return _before(text, "# " + "x " * dice.between(2_100, 30_000))


def long_value(dice: Dice, text: str) -> str:
    return _instead(text, LINE, f"created_by: {'o' * dice.between(65, 4_000)}")


def long_number(dice: Dice, text: str) -> str:
    return _instead(text, FIRST, f"{FIRST}\n    priority: {'9' * dice.between(5, 4_000)}")


def many_fields(dice: Dice, text: str) -> str:
    return _before(text, "\n".join(f"x{number}: y" for number in range(dice.between(1, 4_000))))


def other_encoding(dice: Dice, text: str) -> str:
    """A text of another width, of which a simple reader makes the same queue."""
    return text.encode(dice.choose(["utf-16", "utf-16-be", "utf-16-le"])).decode("latin-1")


KINDS: dict[str, tuple[Case, ...]] = {
    "bombs": (laughs, quadratic, merges, circle, slow_lines, flaws),
    "tags": (tagged_value, tagged_key, tagged_list, tagged_item, named_handle),
    "duplicates": (field_twice, item_field_twice, escaped_key_twice, merged_key, document_twice, need_twice,
                   second_file),
    "bidi": (in_an_id, in_a_field, in_a_value, in_a_need, in_a_comment, hidden_line),
    "depth": (flow_lists, flow_fields, block_lists, block_fields, open_lists, deep_key),
    "size": (many_bytes, many_documents, long_line, long_value, long_number, many_fields, other_encoding),
}  # fmt: skip


def hostile(dice: Dice, number: int) -> tuple[str, str, bytes]:
    """(kind, form, file) of one trial; kinds and their forms come in turn."""
    kind = list(KINDS)[number % len(KINDS)]
    form = KINDS[kind][number // len(KINDS) % len(KINDS[kind])]
    made = form(dice, good(dice, most=12))
    return kind, form.__name__, made.encode("latin-1" if form is other_encoding else "utf-8")
