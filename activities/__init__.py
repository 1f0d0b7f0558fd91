"""IO: what workflows ask for. `activities.table` lists it, so that whoever needs one does not import all."""
