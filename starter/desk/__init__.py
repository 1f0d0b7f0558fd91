"""IO: `cutter desk`: a web server that shows what waits, the laws, runs, batches and queues, and can change nothing."""
