"""One file per control flow: edges, nothing else."""
