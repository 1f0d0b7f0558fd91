"""IO: the knowledge base: a write-once store of documents, and the names of the documents that a run puts there."""
