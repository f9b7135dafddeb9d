"""The server: one FastAPI app with the web app, its API, and endpoints for chat apps, LangServe and MCP."""

if __name__ != "ragweave.serve":
    raise ImportError("this folder is the package ragweave.serve: import it by that name")
