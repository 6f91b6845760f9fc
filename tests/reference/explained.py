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
HIGHER = (
    "Where additions gain more than swaps the model grows by batches, and jumps that lost their digits are not made: "
    "the evidence rose. Log evidence before and now: {}."
)
SEARCH = (
    "What was solver='thorough' is now a search by groups regrown under less noise. Log evidence before and now: {}."
)
LAST_ADDITIONS = (
    "Additions that gain with the curvature held fixed are tried at the end of a classifier's fit. Log evidence before "
    "and now: {}."
)
CONSTANT_INPUT = (
    "Inputs that are constant do not count in the widths that the search for scales starts from. Log evidence before "
    "and now: {}."
)
OWN_WIDTHS = (
    "Inputs with widths of their own that explain only noise are dropped a few at a time, and the others maximised "
    "again each time. Log evidence before and now: {}."
)
DENOISED = (
    "With prior='auto' the noise is the smaller of two estimates, a band is taken for noise unless it says otherwise, "
    "and error bars count the wavelets that were set to zero."
)
DENOISED_BY_AUTO = (
    "denoise blocks",
    "denoise bumps",
    "denoise heavisine",
    "denoise doppler",
    "denoise sinc",
    "denoise blocks-sinc",
    "denoise by haar",
    "denoise by db4",
    "denoise by coif2",
    "denoise, noise known",
    "denoise, level",
    "denoise, shifts",
    "denoise, symmetric",
    "denoise, symmetric, shifts, haar",
    "denoise, odd length",
    "denoise, short",
    "denoise, batch",
    "denoise, image",
    "denoise, image, symmetric, shifts",
    "denoise, volume",
    "real electrocardiogram",
    "real image",
)
EXPLAINED: dict[str, str] = {
    **dict.fromkeys(DENOISED_BY_AUTO, DENOISED),
    "gamma evidence beside Spike": SAMPLED_PART,
    "gamma evidence beside Wavelet": SAMPLED_PART,
    "real kin8nm": BATCHES,
    "gamma evidence, product": GIVEN_PERIOD,
    "gamma evidence, KernelSum": GIVEN_PERIOD,
    "gamma ard, laplacian": OWN_WIDTHS.format("65.638, 64.895"),
    "gamma ard, RBF + Matern": OWN_WIDTHS.format("59.3397, 59.3387"),
    "gamma ard, RBF + Columns": OWN_WIDTHS.format("62.0319, 62.0342"),
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
    "large, low rank, noise shape": ROW_ORDER.format("1346.58, 1347.82"),
    "largest, by columns, Laplacian": ROW_ORDER.format("13948.92, 13906.36, with the prior 13397.05, 13373.85"),
    "largest, by columns, narrow kernel": ROW_ORDER.format("12692.71, 13002.39, with the prior 11322.08, 11464.03"),
    "large, two classes, gamma ard": ROW_ORDER.format("-363.380, -363.179"),
    "large, formed, Laplacian": HIGHER.format("1463.56, 1463.85"),
    "large, formed, ten inputs": HIGHER.format("-3347.62, -3347.31"),
    "real kin8nm, large": HIGHER.format("1249.60, 1260.08"),
    "select regressors by evidence": HIGHER.format("46.06, 46.18, of linear splines under BIC"),
    "select regressors by loo": HIGHER.format("46.06, 46.18, of linear splines under BIC"),
    "large, low rank, KernelSum": ROW_ORDER.format("1354.63, 1355.03"),
    "functional 4 classes, weights": (
        "Additions are tried one by one where a round of the solver is not taken. Log evidence before and now: "
        "-126.590, -126.580."
    ),
    "solver thorough, sinc": SEARCH.format("77.443, 77.467"),
    "solver regrown, sinc": SEARCH.format("77.443, 77.330"),
    "classes sparse columns": LAST_ADDITIONS.format("-102.49443, -102.49428"),
    "classes 3, no intercept": LAST_ADDITIONS.format("-39.945, -39.924"),
    "rows three": "Three rows and two functions leave no noise: its estimate, 5e-10, is what rounding leaves.",
    "gamma ard, constant input": CONSTANT_INPUT.format("54.31655, 54.31661"),
    "real concrete, ard": CONSTANT_INPUT.format("-507.48, -507.12"),
    "classes gamma ard": "one width for all inputs unless the further ones gain a nat each; no input is dropped",
    "classes gamma ard, RBF + Columns": "one width for all inputs unless the further ones gain a nat each",
}
