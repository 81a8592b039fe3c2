"""Pages of members: log in, keys, webhooks."""
