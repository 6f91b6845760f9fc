"""One precision for several weights: several outputs, groups of columns, complex numbers, columns without a prior."""
