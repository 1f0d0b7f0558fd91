"""IO: the knowledge base: a write-once store of documents, and the names of what a run puts there."""
