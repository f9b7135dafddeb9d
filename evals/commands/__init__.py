"""`ragweave eval`, `train` and `synthesize`, which run from a checkout."""
