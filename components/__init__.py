"""Who decides: one component per decision, local or a language model, chosen once a run (components/build.py)."""

if __name__ != "ragweave.components":
    raise ImportError("this folder is the package ragweave.components: import it by that name")
