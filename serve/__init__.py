"""The server: one FastAPI app with the page, its API, and the doors for chat apps, LangServe and MCP."""

if __name__ != "ragweave.serve":
    raise ImportError("this folder is the package ragweave.serve: import it by that name")
