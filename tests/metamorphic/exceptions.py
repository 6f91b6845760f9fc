"""What a change of the data does alter, and rightly: docs/invariance.md has the reasons, in the same words."""

LENGTHS = (  # kernels with a fixed width; splines and products of powers with several degrees
    "rbf", "laplacian", "matern", "rational-quadratic", "poly, coef0=1", "sigmoid", "linear-spline", "cubic-spline",
    "thin-plate-spline", "RBF() + Columns(2)", "RBF() * RBF()", 'variance="augmented"', 'solver="mackay"',
    'solver="sequential"', "GeneralizedNormal(4)", "Gaussian(prior=(2, 0.1))", "noise_variance=0.02",
    "Gamma(1, 0.01)", "Laplace(1)", "Smoothness(1)", "fit_intercept=False", 'class_weight="balanced"',
    "moderated=False", "columns, Gamma(1, 0.01)", "columns, Laplace(1)",
)  # fmt: skip
ORIGINS = (
    "poly", "poly, coef0=1", "linear", "cosine", "sigmoid", "histogram-intersection", "linear-spline", "cubic-spline",
    "RBF() + Columns(2)", "columns, fit_intercept=False",
)  # fmt: skip
UNITS = (
    "Gaussian(prior=(2, 0.1))", "noise_variance=0.02", "Gamma(1, 0.01)", "Laplace(1)", "columns, Gamma(1, 0.01)",
    "columns, Laplace(1)",
)  # fmt: skip
EXCEPTIONS = {
    "scale of X": LENGTHS,
    "shift of X": ORIGINS,
    "sign of a column": (
        "histogram-intersection", "linear-spline", "cubic-spline", "RBF() + Columns(2)",
    ),
    "constant column": (
        "poly", "poly, coef0=1", "cosine", "sigmoid", "columns, fit_intercept=False",
    ),
    "scale of y": UNITS,
    "shift of y": ("fit_intercept=False", "columns, fit_intercept=False"),
    "rows twice with half weights": ('gamma="evidence"', 'gamma="ard"'),
    "weights or repeated rows": ('gamma="evidence"', 'gamma="ard"'),
}  # fmt: skip


def is_exception(change: str, model: str) -> bool:
    """Whether the answers of a model do change with the data."""
    return model in EXCEPTIONS.get(change.removesuffix(" down"), ())
