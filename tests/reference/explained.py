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
EXPLAINED: dict[str, str] = {
    "gamma evidence beside Spike": SAMPLED_PART,
    "gamma evidence beside Wavelet": SAMPLED_PART,
    "real kin8nm": BATCHES,
    "gamma evidence, product": GIVEN_PERIOD,
    "gamma evidence, KernelSum": GIVEN_PERIOD,
}
