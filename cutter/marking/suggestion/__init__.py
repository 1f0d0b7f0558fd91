"""Pure: suggests a marking profile for a text, with its reasons."""

from __future__ import annotations

from cutter.marking.suggestion.suggest import Alternative, SuggestedLevel, Suggestion, Unused, suggest

__all__ = ["Alternative", "SuggestedLevel", "Suggestion", "Unused", "suggest"]
