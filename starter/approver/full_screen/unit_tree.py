"""IO: the tree of a request's units. Each line ends with the whole number of words, however narrow the tree is."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.widgets import Tree
from textual.widgets.tree import TreeNode

from cutter.domain.amounts import counted
from cutter.limits import TREE_TITLE_CELLS_MIN
from cutter.request_view import LeftOut, ShownUnit
from starter.console.terminal import line

Piece = ShownUnit | LeftOut


class UnitTree(Tree[Piece]):
    """Shortens the title of a unit, and never the number of its words: a swallowed article makes that number large."""

    def render_label(self, node: TreeNode[Piece], base_style: Style, style: Style) -> Text:
        label = super().render_label(node, base_style, style)
        if not isinstance(node.data, ShownUnit):
            return label
        words = line(f"{counted(node.data.words, 'word')}", "dim")
        room = self.scrollable_content_region.width - self.guide_depth * self._depth(node) - words.cell_len - 1
        label.truncate(max(room, TREE_TITLE_CELLS_MIN), overflow="ellipsis", pad=True)
        return label.append(" ").append_text(words)

    def _depth(self, node: TreeNode[Piece]) -> int:
        """How many guides are to the left of a node. The root is not shown."""
        depth, above = -1, node.parent
        while above is not None:
            depth, above = depth + 1, above.parent
        return max(depth, 0)
