"""Backup and restore: what an installation loses when its disk does, and what it must not believe afterwards."""

# Of its row beside the sweeps: its age is watched (docs/watching.md), its error shows in /readyz.
NAME = "backup"
