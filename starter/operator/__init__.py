"""IO: services that several commands use to start, resume and watch runs and batches."""
