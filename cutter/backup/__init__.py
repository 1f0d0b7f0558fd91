"""Pure: the pre-write backup (seed 000 §4, IG_backup; spec "Backup"): take, encrypt, restore and compare."""
