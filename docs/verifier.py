"""IO: joins the modules of `cutter.evidence.offline` into the one file that an auditor reads and copies.

The file holds the modules word for word, in the order in which they need each other. Imports of the standard library
move to the beginning, and imports of each other go.
"""

from __future__ import annotations

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "cutter" / "evidence" / "offline"
PREFIX = "cutter.evidence.offline."
LAST = "checks"
MADE = "`python -m docs.generate` makes this file from the package cutter/evidence/offline, for Python 3.9 or newer."
WIDTH = 120


def script() -> str:
    """The verifier as one file."""
    head = ast.get_docstring(ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8"))) or ""
    imports, parts = set[tuple[str, str]](), list[str]()
    for name in in_order(LAST, []):
        taken, body = split((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
        imports |= taken
        parts.append(body)
    start = f'"""{head}\n\n{MADE}\n"""\n\nfrom __future__ import annotations\n\n{import_lines(imports)}'
    end = 'if __name__ == "__main__":\n    raise SystemExit(main())\n'
    return start + "\n".join([*parts, "", end])


def import_lines(imports: set[tuple[str, str]]) -> str:
    """One line for each module: first the whole modules, then the names taken from modules."""
    names = {module: sorted((n for m, n in imports if m == module), key=by_case) for module, _ in imports}
    whole = [f"import {module}\n" for module in sorted(names) if "" in names[module]]
    parts = [f"from {module} import {', '.join(filter(None, names[module]))}\n" for module in sorted(names)
             if any(names[module])]  # fmt: skip
    return "".join([*whole, *parts])


def by_case(name: str) -> tuple[bool, str]:
    """Classes come before functions."""
    return name[:1].islower(), name


def in_order(name: str, before: list[str]) -> list[str]:
    """The modules that a module needs, each before those that need it, and then the module."""
    for node in ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(PREFIX):
            needed = str(node.module).removeprefix(PREFIX)
            before = before if needed in before else in_order(needed, before)
    return [*before, name]


def split(source: str) -> tuple[set[tuple[str, str]], str]:
    """(The names from the standard library, the rest below a line with what the module says that it is for)."""
    tree = ast.parse(source)
    first = (ast.get_docstring(tree) or "").split("\n", 1)[0].split(": ", 1)[1].rstrip(".")
    taken = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    after = max(node.end_lineno or 0 for node in taken)
    rest = "\n".join(source.split("\n")[after:]).strip("\n")
    space = "\n\n\n" if rest.startswith(("class ", "def ", "@")) else "\n\n"
    return {name for node in taken for name in names_of(node)}, f"\n# --- {first} ".ljust(
        WIDTH, "-"
    ) + f"{space}{rest}\n"


def names_of(node: ast.Import | ast.ImportFrom) -> set[tuple[str, str]]:
    """(Module, name) of an import of the standard library; the name is empty for the whole module."""
    if isinstance(node, ast.Import):
        return {(alias.name, "") for alias in node.names}
    module = str(node.module)
    if module == "__future__" or module.startswith(PREFIX):
        return set()
    return {(module, f"{alias.name} as {alias.asname}" if alias.asname else alias.name) for alias in node.names}
