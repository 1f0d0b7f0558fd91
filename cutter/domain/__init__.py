"""Pure: the values everything else is made of (ids, digests, states)."""
