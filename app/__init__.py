"""The shell: commands, the Python API, rendering."""

if __name__ != "ragweave.app":
    raise ImportError("this folder is the package ragweave.app: import it by that name")
