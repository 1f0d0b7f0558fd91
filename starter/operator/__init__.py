"""IO: what several commands need to start, resume and watch runs and batches."""
