"""Changes of the data that a classification should not notice: units, origins, weights or repeats, names of classes."""

from functools import cache

import numpy as np
import pytest
from metamorphic.exceptions import is_exception
from metamorphic.problems import KERNEL_CLASSIFIERS, LINEAR_CLASSIFIERS, class_table, classes
from metamorphic.transformations import INPUTS, ROWS, Data, repeated, weighted

from sparsebayes import fit

MODELS = KERNEL_CLASSIFIERS | LINEAR_CLASSIFIERS
CHANGES = ROWS | INPUTS
CLOSE = 1e-5  # of probabilities
PROBLEMS = [(2, 0), (3, 1)]  # classes and seed


@cache
def _data(name: str, K: int, seed: int) -> Data:
    return Data(*(classes(seed, K) if name in KERNEL_CLASSIFIERS else class_table(seed, K)))


@cache
def _plain(name: str, K: int, seed: int):
    return _data(name, K, seed).fitted(MODELS[name])


def _assert_same(changed, plain, before: Data, after: Data) -> None:
    ours, theirs = changed.predict_proba(after.queries), plain.predict_proba(before.queries)
    np.testing.assert_allclose(ours, theirs, atol=CLOSE)
    assert changed.log_evidence_ == pytest.approx(plain.log_evidence_, abs=1e-4)


PAIRS = [(name, change) for name in MODELS for change in CHANGES if not is_exception(change, name)]


@pytest.mark.parametrize(("K", "seed"), PROBLEMS)
@pytest.mark.parametrize(("name", "change"), PAIRS)
def test_nothing_changes(name, change, K, seed):
    data = _data(name, K, seed)
    after = CHANGES[change].change(data)
    _assert_same(after.fitted(MODELS[name]), _plain(name, K, seed), data, after)


@pytest.mark.parametrize(("K", "seed"), PROBLEMS)
@pytest.mark.parametrize("name", [name for name in MODELS if not is_exception("weights or repeated rows", name)])
def test_integer_weights_equal_repeated_rows(name, K, seed):
    data = _data(name, K, seed)
    before, after = weighted(data), repeated(data)
    _assert_same(after.fitted(MODELS[name]), before.fitted(MODELS[name]), before, after)


@pytest.mark.parametrize(("K", "seed"), PROBLEMS)
@pytest.mark.parametrize("name", MODELS)
def test_names_of_classes_in_the_same_order(name, K, seed):
    data = _data(name, K, seed)
    names = np.array(["ant", "bee", "cat"])
    renamed = Data(data.X, names[data.y], data.queries).fitted(MODELS[name])
    plain = _plain(name, K, seed)
    np.testing.assert_array_equal(renamed.predict_proba(data.queries), plain.predict_proba(data.queries))
    np.testing.assert_array_equal(renamed.predict(data.queries), names[plain.predict(data.queries)])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("prior", ["uniform", "bic"])
def test_fit(prior, K, seed):
    Phi, y, queries = class_table(seed, K)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(len(y)), rng.permutation(Phi.shape[1])
    scales = 10.0 ** rng.uniform(-3, 3, Phi.shape[1]) * rng.choice([-1.0, 1.0], Phi.shape[1])
    options = {"likelihood": "bernoulli" if K == 2 else "multinomial", "prior": prior, "fit_intercept": True}

    def probabilities(result, Phi):
        return result.probabilities(Phi[:, result.active])

    plain = probabilities(fit(Phi, y, **options), queries)
    for changed, queries_now in (
        (fit(Phi[rows], y[rows], **options), queries),
        (fit(Phi[:, columns], y, **options), queries[:, columns]),
        (fit(Phi * scales, y, **options), queries * scales),
        (fit(np.tile(Phi, (2, 1)), np.tile(y, 2), sample_weight=np.full(2 * len(y), 0.5), **options), queries),
    ):
        np.testing.assert_allclose(probabilities(changed, queries_now), plain, atol=CLOSE)
