"""IO: the activities of a document run outside its gates: begin, request approval, stop, void, finish."""
