"""IO: measurements, side by side in one run; see README.md for the method. No test asserts a time."""
