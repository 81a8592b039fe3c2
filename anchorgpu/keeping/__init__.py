"""Backup and restore: what an installation loses when its disk does, and what it must not believe afterwards."""
