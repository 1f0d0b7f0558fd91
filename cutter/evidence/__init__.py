"""Pure: the evidence of a run: its evidence bundle, its audit chain, and their offline check."""
