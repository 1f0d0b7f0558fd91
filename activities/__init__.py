"""IO: what workflows ask for. `activities.registry` lists it, so that whoever needs one does not import all."""
