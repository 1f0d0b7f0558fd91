"""Pure: views of recorded facts: run folders, batch folders, reports, pages and event streams. Writing them is IO."""
