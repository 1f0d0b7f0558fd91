"""Pure package: lifecycles as data, the views of a run or a batch in these lifecycles, and the events of transitions.

Nothing here decides about the next step at run time: gates, functions of the database and workflows do. The tables list
the legal transitions, and the views show the one authoritative state in the words of each seed.
"""
