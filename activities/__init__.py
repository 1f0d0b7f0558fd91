"""IO: the activities that workflows call. Only `activities.registry` imports them all, so that the import of one
activity stays small.
"""
