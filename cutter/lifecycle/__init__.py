"""Pure package: lifecycles as data, what they look like of a run or a batch, and the events of their transitions.

No run-time dispatch goes through here: what may happen next is decided by gates, functions of the database and the
workflows. These tables say what is legal, the views show one authoritative state in the words of each seed.
"""
