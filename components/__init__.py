"""Who decides: one file a decision, with its strategies (local, chat model, checkpoint) and their choice."""

if __name__ != "ragweave.components":
    raise ImportError("this folder is the package ragweave.components: import it by that name")
