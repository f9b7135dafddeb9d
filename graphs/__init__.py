"""One file per control flow: edges, nothing else."""

if __name__ != "ragweave.graphs":
    raise ImportError("this folder is the package ragweave.graphs: import it by that name")
