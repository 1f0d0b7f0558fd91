"""IO: what workflows ask for. `activities.registry` lists it, so that an import of one does not import all."""
