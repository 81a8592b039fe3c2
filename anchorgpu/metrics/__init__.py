"""What Prometheus reads: requests as they were answered, and the state of the shop from its rows."""
