"""Pure: views of recorded facts: run and batch folders, reports, pages and event streams; writing them is IO."""
