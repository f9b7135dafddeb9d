"""The decisions of a run, one file each, with their strategies: local, chat model, checkpoint."""

if __name__ != "ragweave.components":
    raise ImportError("this folder is the package ragweave.components: import it by that name")
