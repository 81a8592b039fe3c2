"""The REST API: faces of the same services and selectors that the pages use."""
