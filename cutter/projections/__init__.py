"""Pure or IO: views of recorded facts: run folders, batch folders, reports, pages and event streams."""
