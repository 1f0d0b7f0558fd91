"""Pure package root: enacted law as people and programs read it: its versions, their text, comparisons and exports."""
