"""Pure: a backup as segments: the documents that changed, and the name of the tree of the segments with the others."""
