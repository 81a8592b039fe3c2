"""The operator's desk: what waits for a decision, what the fleet does, what it earns."""
