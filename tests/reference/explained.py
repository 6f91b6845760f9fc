"""Reference fits whose answers were changed on purpose: the name of the fit, and a sentence that says why."""

SAMPLED_PART = (
    "Wavelets, cosines and spikes are no part of the Gaussian process that scales are learned from: the width is now "
    "that of the smooth part alone, and the evidence rose by more than a hundred nats."
)
BATCHES = (
    "Where additions gain more than swaps many times in a row, the model now grows by batches before it goes on "
    "swapping: the evidence rose from 165.36 to 165.89."
)
GIVEN_PERIOD = (
    "A period that is given is kept while the other scales are learned, unless period_bounds says otherwise: it was "
    "overwritten."
)
ROW_ORDER = (
    "The rows of a kernel machine are now fitted in lexicographic order, so that the order in which they come changes "
    "nothing; the pivots of K ≈ LLᵀ are drawn in that order. Log evidence before and now: {}."
)
SIGN = (
    "The pool that the first model is pruned from no longer depends on the sign of t. Log evidence before and now: {}."
)
EXPLAINED: dict[str, str] = {
    "gamma evidence beside Spike": SAMPLED_PART,
    "gamma evidence beside Wavelet": SAMPLED_PART,
    "real kin8nm": BATCHES,
    "gamma evidence, product": GIVEN_PERIOD,
    "gamma evidence, KernelSum": GIVEN_PERIOD,
    "classes kernel matern": SIGN.format("-30.1116, -30.1103"),
    "functional 2 classes, more columns than rows": SIGN.format("-16.09, -18.69"),
    "real power, large": ROW_ORDER.format("-6242.797, -6242.746"),
    "large, low rank": ROW_ORDER.format("1368.74, 1369.44"),
    "large, low rank, no intercept": ROW_ORDER.format("2132.97, 2133.54"),
    "large, low rank, loose tolerance": ROW_ORDER.format("2137.80, 2138.39"),
    "large, low rank, bic": ROW_ORDER.format("1367.16, 1365.96"),
    "large, low rank, noise known": ROW_ORDER.format("1368.02, 1368.12"),
    "large, low rank, noise prior": ROW_ORDER.format("1368.80, 1368.64"),
    "large, low rank, weights": ROW_ORDER.format("2127.03, 2127.07"),
    "large, low rank, repeated rows": ROW_ORDER.format("1552.22, 1553.19"),
    "large, low rank, augmented variance": ROW_ORDER.format("1368.74, 1369.44"),
    "large, low rank, product": ROW_ORDER.format("1366.26, 1367.18"),
    "large, low rank, KernelSum": ROW_ORDER.format("1354.63, 1355.03"),
    "functional 4 classes, weights": (
        "Additions are tried one by one where a round of the solver is not taken. Log evidence before and now: "
        "-126.590, -126.580."
    ),
}
