"""`fit` on rows in chunks and on disk gives what it gives on rows in memory."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse
import sklearn

from sparsebayes import fit


class Dataset:
    """An array that gives rows by slicing and nothing else."""

    def __init__(self, values):
        self._values = values
        self.shape, self.dtype = values.shape, values.dtype

    def __getitem__(self, part):
        return self._values[part]


def _data(seed, N=240, M=25):
    rng = np.random.default_rng(seed)
    Phi = rng.standard_normal((N, M)) @ (np.eye(M) + 0.3 * rng.standard_normal((M, M))) + rng.normal(size=M)
    t = Phi[:, :4] @ [2.0, -1.0, 0.5, 1.0] + 0.3 * rng.standard_normal(N) + 3.0
    return Phi, t, rng.integers(0, 3, N).astype(float)


def _chunks(Phi, t, weights, size):
    for start in range(0, len(t), size):
        part = slice(start, start + size)
        yield (Phi[part], t[part]) if weights is None else (Phi[part], t[part], weights[part])


def _assert_same(a, b):
    np.testing.assert_array_equal(a.active, b.active)
    for name in ("mean", "covariance", "alpha", "intercept", "noise_variance", "log_evidence", "objective"):
        np.testing.assert_allclose(getattr(a, name), getattr(b, name), rtol=1e-8, atol=1e-10, err_msg=name)
    np.testing.assert_allclose(a.centre, b.centre, rtol=1e-10)
    assert (a.has_intercept, a.converged) == (b.has_intercept, b.converged)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("size", [1, 37, 240])
def test_chunks(size, fit_intercept):
    for seed in range(3):
        Phi, t, weights = _data(seed)
        for counts in (None, weights):
            whole = fit(Phi, t, fit_intercept=fit_intercept, sample_weight=counts)
            _assert_same(fit(_chunks(Phi, t, counts, size), fit_intercept=fit_intercept), whole)


@pytest.mark.parametrize("memory", [0.02, 0.1])  # MiB: passes, a triangle
@pytest.mark.parametrize("weighted", [False, True])
def test_arrays_on_disk(tmp_path, memory, weighted):
    Phi, t, weights = _data(4)
    weights = weights if weighted else None
    whole = fit(Phi, t, fit_intercept=True, sample_weight=weights, prior="bic")
    np.save(tmp_path / "Phi.npy", Phi)
    mapped = np.load(tmp_path / "Phi.npy", mmap_mode="r")
    for design in (mapped, Dataset(Phi)):
        with sklearn.config_context(working_memory=memory):
            result = fit(design, t, fit_intercept=True, sample_weight=weights, prior="bic")
            predicted = result.predict(design, return_std=True)
        _assert_same(result, whole)
        for ours, theirs in zip(predicted, whole.predict(Phi, return_std=True), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-8)
    with sklearn.config_context(working_memory=memory):
        _assert_same(fit(mapped, Dataset(t), sample_weight=weights), fit(Phi, t, sample_weight=weights))
        np.testing.assert_allclose(result.predict(mapped), whole.predict(Phi), rtol=1e-8)


def test_small_arrays_on_disk_are_read():
    Phi, t, weights = _data(8)
    one = fit(Dataset(Phi), Dataset(t), sample_weight=Dataset(weights))
    assert one.log_evidence == fit(Phi, t, sample_weight=weights).log_evidence


def test_float32_and_sparse_chunks():
    Phi, t, _ = _data(5)
    single = Phi.astype(np.float32)
    _assert_same(fit(_chunks(single, t, None, 50)), fit(single.astype(float), t))
    sparse = scipy.sparse.csr_array(np.where(np.abs(Phi) > 1, Phi, 0.0))
    _assert_same(fit(_chunks(sparse, t, None, 50), fit_intercept=True), fit(sparse, t, fit_intercept=True))


def test_chunks_of_another_array_library():
    Phi, t, weights = (array_api_strict.asarray(x) for x in _data(9, N=60, M=6))
    parts = [slice(0, 20), slice(20, 60)]
    result = fit(((Phi[part, :], t[part], weights[part]) for part in parts), fit_intercept=True)
    whole = fit(Phi, t, fit_intercept=True, sample_weight=weights)
    np.testing.assert_array_equal(result.active, whole.active)
    for name in ("mean", "covariance", "alpha"):
        assert isinstance(getattr(result, name), type(Phi))
        np.testing.assert_allclose(np.asarray(getattr(result, name)), np.asarray(getattr(whole, name)), rtol=1e-8)


def test_noise_far_below_the_target():
    """A noise of some 3e-5 of the target, where products of rows alone leave few digits of the residual."""
    Phi, t, _ = _data(6)
    t = Phi[:, :4] @ [2.0, -1.0, 0.5, 1.0] + 1e-4 * np.random.default_rng(0).standard_normal(240)
    one, other = fit(_chunks(Phi, t, None, 11), prior="bic"), fit(Phi, t, prior="bic")
    np.testing.assert_array_equal(one.active, other.active)
    assert one.noise_variance == pytest.approx(other.noise_variance, rel=1e-8)
    assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-8)


PHI, T, _ = _data(7, N=12, M=4)
BAD = {
    "width": (
        [(PHI, T), (PHI[:, :2], T)],
        r"^Phi must have 4 columns in every chunk, got 2 \(in chunk 1, which",
    ),
    "NaN": (
        [(PHI, T), (PHI * np.nan, T)],
        r"^Phi contains (NaN|infinity) in row 0, column [0-9]+; .* \(in chunk 1, ",
    ),
    "NaN in t": ([(PHI, T), (PHI, T * np.nan)], r"^y contains (NaN|infinity)"),
    "length": ([(PHI, T), (PHI, T[:4])], r"^y must have one value per row of X: X has 12 rows, but y has shape \(4,\)"),
    "negative": ([(PHI, T, -np.ones(12))], r"^sample_weight must not be negative"),
    "weights": ([(PHI, T, np.ones(3))], r"^sample_weight must have one value per row of X: X has 12 rows"),
    "zero weights": ([(PHI, T, np.zeros(12))], r"^Phi has no row of positive weight"),
    "nothing": ([], r"^Phi has no row of positive weight"),
    "kind": (
        [PHI],
        r"^a chunk must be \(X, y\) or \(X, y, sample_weight\), got ndarray \(in chunk 0, ",
    ),
    "parts": ([(PHI,)], r"^a chunk must be .*got 1 values \(in chunk 0"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_chunks(case):
    chunks, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        fit(iter(chunks))


def test_bad_arguments_beside_arrays_on_disk_and_chunks():
    with sklearn.config_context(working_memory=1e-4):
        for bad, message in (
            (T[:4], r"^y must have one value per row of X: X has 12 rows, but y has shape \("),
            (np.ones((12, 2, 2)), r"^y should be a 1d array, got an array of shape \(12, "),
            (None, r"^The fit requires y to be passed, but the target y is None\.$"),
            (Dataset(T[:5]), r"^y must have one value per row of X: X has 12 rows, but y has shape \("),
        ):
            with pytest.raises(ValueError, match=message):
                fit(Dataset(PHI), bad)
        with pytest.raises(ValueError, match=r"^sample_weight must have one value per row of X: X has 12 rows"):
            fit(Dataset(PHI), T, sample_weight=T[:3])
    with pytest.raises(ValueError, match=r"^sample_weight must be None if Phi gives chunks"):
        fit(iter([(PHI, T)]), sample_weight=T)
    with pytest.raises(ValueError, match=r"^The fit requires y to be passed"):
        fit(PHI)
