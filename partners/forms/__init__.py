"""Forms of the member pages. They only read what was typed; services decide."""
