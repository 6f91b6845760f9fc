"""Set before SciPy is imported, so that scikit-learn's array API checks run rather than skip."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
