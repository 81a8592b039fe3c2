"""A buyer made of code: pages over HTTP, a login over SSH; nothing in here touches the database."""
