"""Who decides: one mind per decision, small or a language model, chosen once a run (minds/build.py)."""

if __name__ != "ragweave.minds":
    raise ImportError("this folder is the package ragweave.minds: import it by that name")
