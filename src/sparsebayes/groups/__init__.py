"""One precision for several weights as solvers see it: priors on it, and columns in the units of their group."""
