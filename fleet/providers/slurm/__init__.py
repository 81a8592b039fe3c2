"""Real nodes: a lease is a reservation of whole nodes on a Slurm cluster (docs/slurm.md)."""
