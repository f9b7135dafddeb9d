"""The server: one FastAPI app with the page, its API, and the doors for chat apps, LangServe and MCP."""
