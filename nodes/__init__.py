"""One verb per file: a step of reasoning over the state."""

if __name__ != "ragweave.nodes":
    raise ImportError("this folder is the package ragweave.nodes: import it by that name")
