"""What a page shows, put together from rows before a template sees it."""
