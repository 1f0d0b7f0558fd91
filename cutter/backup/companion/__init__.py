"""Pure: a backup's companion: the rows of all tables that segments do not hold, at the moment of one backup."""
