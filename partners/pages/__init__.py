"""What the member pages show, put together from rows."""
