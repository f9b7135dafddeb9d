"""Measurement: metrics, the papers' protocols, training of the shipped heads."""

if __name__ != "ragweave.evals":
    raise ImportError("this folder is the package ragweave.evals: import it by that name")
