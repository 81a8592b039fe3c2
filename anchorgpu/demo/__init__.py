"""The one-command demo: its secrets, its environment and its supervisor."""
