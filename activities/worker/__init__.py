"""IO: what a worker process needs around its activities: dependencies, error boundary, heartbeats, metrics."""
