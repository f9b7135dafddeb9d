"""Web search that is safe to leave on: what a provider says is read as data, and no address that it names is opened."""
