"""Benchmarks and fits that docs/ quote."""
