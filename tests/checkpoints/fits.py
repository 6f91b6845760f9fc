"""Fits that are interrupted in the tests of checkpoints, and what is compared of their models."""

import numpy as np

ARRAYS = (
    "relevance_",
    "alpha_",
    "gamma_",
    "intercept_",
    "dual_coef_",
    "coef_",
    "noise_variance_",
    "log_evidence_",
    "evidence_path_",
    "scales_",
    "n_iter_",
)


class Interrupted(Exception):
    """What the tests raise in a callback."""


def same_models(found, expected):
    """Every number of two models is the same, to the last bit; only the times of the moves differ."""
    for name in ARRAYS:
        if hasattr(expected, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    moves = [[(move.name, move.count, move.gain, move.n_active) for move in each.trace_] for each in (found, expected)]
    assert moves[0] == moves[1]
    assert found.converged_ == expected.converged_


class Interrupting:
    """A callback that raises at its k-th call, and keeps the file as it is at that moment: what a kill leaves."""

    def __init__(self, path, k):
        self.path, self.k, self.calls, self.contents = path, k, 0, None

    def __call__(self, progress):
        self.calls += 1
        if self.calls == self.k:
            self.contents = self.path.read_bytes() if self.path.exists() else None
            raise Interrupted

    def leave(self):
        """Put back the file as a kill would have left it."""
        if self.contents is None:
            self.path.unlink(missing_ok=True)
        else:
            self.path.write_bytes(self.contents)


def calls_of(make, *data):
    """A fit without a checkpoint, and how often it calls its callback."""
    seen = []  # a function, which is one and the same in copies of the model
    return make(callback=lambda progress: seen.append(progress)).fit(*data), len(seen)


def interrupt(make, path, k, *data, killed=False):
    """Fit with a checkpoint until the k-th call of the callback."""
    callback = Interrupting(path, k)
    try:
        make(callback=lambda progress: callback(progress), checkpoint=path).fit(*data)
    except Interrupted:
        pass
    else:
        raise AssertionError("the fit was over before it was interrupted")
    if killed:
        callback.leave()
