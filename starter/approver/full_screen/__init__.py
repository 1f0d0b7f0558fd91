"""IO: the signing session that fills the terminal."""
