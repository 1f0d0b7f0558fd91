"""IO: the checks that a worker makes before it serves, and that `cutter doctor` makes on each host."""
