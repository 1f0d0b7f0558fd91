"""Pure: what can be shown and proven of a run afterwards: its view, its report, its audit chain."""
