"""Pure: suggests a marking profile for a text, with its reasons."""

from __future__ import annotations

from cutter.marking.suggestion.suggest import Alternative, SuggestedLevel, Suggestion, suggest
from cutter.marking.suggestion.trial import Unused

__all__ = ["Alternative", "SuggestedLevel", "Suggestion", "Unused", "suggest"]
