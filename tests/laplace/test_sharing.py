"""Classes that share their functions: evidence, scores and slopes against brute force, and the fitted models."""

import array_api_strict
import numpy as np
import pytest
from brute import EVERY_PRIOR, LaplaceModel, codes, random_classes
from sklearn.base import clone

from sparsebayes import RBF, Multinomial, RelevanceVectorClassifier, Smoothness, SparseBayesClassifier, Uniform, fit
from sparsebayes.bases.operators import DenseOperator
from sparsebayes.core.groups import GroupedProblem
from sparsebayes.core.newton import gradient_and_hessian
from sparsebayes.laplace.mode import Model, Modes
from sparsebayes.laplace.polish import evidence_hessian, evidence_slope, maximise_evidence
from sparsebayes.laplace.rows import LaplaceRows

N, M = 60, 6
CHANGE = 1e-5
shared = pytest.mark.parametrize("labels", [[0, 0, 0], [0, 1, 0], [1, 0, 0, 1, 2]], ids=str)
centred = pytest.mark.parametrize("center", [False, True])
weighted = pytest.mark.parametrize("weighted", [False, True])
MODELS = [RelevanceVectorClassifier(gamma=0.5), SparseBayesClassifier()]
models = pytest.mark.parametrize("model", MODELS, ids=repr)


def _case(labels, center, weighted, seed=0, prior=None):
    """Modes of classes with these labels, a mode of some groups, and the same model by brute force."""
    K, labels, rng = len(labels), np.asarray(labels), np.random.default_rng(seed + 30)
    Phi, kinds = random_classes(seed, N, M, K)
    Phi, y = Phi * 10 ** rng.uniform(-2, 2, M), codes(kinds, K)
    counts = rng.uniform(0.3, 2.5, N) if weighted else np.ones(N)
    rows = LaplaceRows(DenseOperator(Phi), y, Multinomial(K), counts, center)
    modes = Modes(rows, (prior or Uniform()).resolve(rows.n), groups=labels)
    function, output = rows.split(np.arange(rows.size))
    group = labels[output] * M + function
    chosen = np.append(0, rng.choice(np.unique(group)[1:], 2, replace=False))  # the first function matters
    J = np.flatnonzero(np.isin(group, chosen))
    alpha = np.exp(rng.uniform(-3, 1, group.max() + 1))[group[J]]
    mode = modes.find(J, alpha, np.zeros(len(J)), rows.start())
    own = alpha * rows.design.norms[function[J]] ** 2
    return modes, mode, LaplaceModel(Phi, y, function[J], output[J], own, counts, center)


@shared
@centred
@weighted
@pytest.mark.parametrize("seed", range(3))
def test_mode_and_evidence_equal_brute_force(labels, center, weighted, seed):
    modes, mode, brute = _case(labels, center, weighted, seed)
    theta, norms = brute.mode(), modes.rows.design.norms[brute.function]
    assert mode.reached
    np.testing.assert_allclose(mode.w, theta[: len(mode.J)] * norms, rtol=1e-6, atol=1e-6)
    assert mode.state.evidence == pytest.approx(brute.log_evidence(theta), rel=1e-8, abs=1e-8)
    assert mode.state.size == 3
    among_all = modes.state(mode.expansion, mode.J, mode.alpha)
    assert isinstance(among_all.problem, GroupedProblem)
    assert among_all.problem.size == M * len(set(labels))
    assert among_all.evidence == pytest.approx(mode.state.evidence, rel=1e-9)


@shared
@centred
@weighted
def test_the_published_slope_has_the_curvature_held_fixed(labels, center, weighted):
    """Σ ½(1 − αΣ_ii − αw²) over the weights of a group, and differences of the evidence around the expansion."""
    _, mode, brute = _case(labels, center, weighted)
    theta = brute.mode()
    spread, w = np.linalg.inv(brute.hessian(theta)).diagonal()[: len(mode.J)], theta[: len(mode.J)]
    of_weights = 0.5 * (1 - brute.alpha * spread - brute.alpha * w**2)
    slope = gradient_and_hessian(mode.state, False)[0]
    np.testing.assert_allclose(slope, np.bincount(mode.owner, of_weights), atol=1e-6)
    for i, e in enumerate(CHANGE * np.eye(mode.state.size)):
        there, back = (mode.state.moved(mode.state.alpha * np.exp(step), 1.0).evidence for step in (e, -e))
        assert slope[i] == pytest.approx((there - back) / (2 * CHANGE), abs=1e-6)


@pytest.mark.parametrize("prior", EVERY_PRIOR)
@shared
@centred
def test_predicted_gains_equal_the_change_of_the_linearised_objective(prior, labels, center):
    modes, mode, _ = _case(labels, center, True, 1, EVERY_PRIOR[prior])
    state = modes.state(mode.expansion, mode.J, mode.alpha)
    assert state.objective == pytest.approx(mode.objective, rel=1e-9)
    for c in np.flatnonzero(np.isfinite(state.scores.alpha)):
        after = state.extended([c], state.scores.alpha[c : c + 1])
        assert after.objective - state.objective == pytest.approx(state.scores.gain[c], rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("prior", EVERY_PRIOR)
@shared
@centred
@weighted
def test_the_slope_with_the_curvature_moving(prior, labels, center, weighted):
    modes, mode, brute = _case(labels, center, weighted, 3, EVERY_PRIOR[prior])
    slope = evidence_slope(modes, mode)
    for i in range(mode.state.size):
        alphas = (mode.alpha * np.exp(change * (mode.owner == i)) for change in (CHANGE, -CHANGE))
        there, back = (modes.find(mode.J, alpha, mode.w, mode.b).objective for alpha in alphas)
        assert slope[i] == pytest.approx((there - back) / (2 * CHANGE), abs=2e-6)
    if prior == "uniform":
        of_weights = brute.evidence_gradient(brute.mode())
        np.testing.assert_allclose(slope, np.bincount(mode.owner, of_weights), atol=1e-6)


@shared
@pytest.mark.parametrize("prior", [Uniform(), Smoothness(0.3)], ids=repr)
def test_the_highest_evidence_has_no_slope_and_is_no_saddle(labels, prior):
    modes, mode, _ = _case(labels, True, False, 2, prior)
    highest = maximise_evidence(modes, mode)
    assert highest.objective >= mode.objective
    heard = highest.state.gamma > 1e-6
    assert heard.any()
    np.testing.assert_allclose(evidence_slope(modes, highest)[heard], 0, atol=1e-4)
    assert np.linalg.eigvalsh(evidence_hessian(modes, highest)[np.ix_(heard, heard)]).max() < 1e-5


@shared
@centred
def test_a_model_is_carried_to_the_rows_of_other_functions(labels, center):
    modes, mode, brute = _case(labels, center, True, 2)
    rows, model = modes.rows, Model.of(mode, modes.rows)
    functions = np.unique(model.function)
    operator = DenseOperator(brute.Phi[:, functions])
    fewer = LaplaceRows(operator, rows.y, rows.likelihood, rows.counts, center, functions)
    there = Modes(fewer, modes.prior, groups=modes.groups).of(model)
    assert there.objective == pytest.approx(mode.objective, rel=1e-10)


def _data(seed=0, K=3, n=150):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    kinds = np.argmax(2 * X[:, :2] @ rng.standard_normal((2, K)) + rng.gumbel(size=(n, K)), axis=1)
    return X, np.asarray(["red", "green", "blue", "white"])[kinds]


def _weights(model):
    return model.dual_coef_ if hasattr(model, "dual_coef_") else model.active_coef_


@pytest.mark.slow
@models
@pytest.mark.parametrize("solver", ["auto", "greedy", "sequential", "em"])
def test_classes_of_one_label_have_the_same_functions(model, solver):
    X, y = _data()
    fitted = clone(model).set_params(groups=[0, 0, 0], solver=solver).fit(X, y)
    assert fitted.converged_
    assert fitted.certificate_.is_local_maximum
    assert len(fitted.terms_) == 3 * len(fitted.relevance_) > 0
    np.testing.assert_allclose(fitted.alpha_, fitted.alpha_[:1].repeat(3, axis=0), rtol=1e-12)
    np.testing.assert_allclose(_weights(fitted).sum(axis=0), 0, atol=1e-6)  # a common term changes no probability
    assert not hasattr(fitted, "candidates_")
    (first,) = (move for move in fitted.trace_ if move.name == "initialised")
    assert first.count == first.n_active  # functions, not weights
    assert fitted.score(X, y) > 0.6


@models
def test_other_classes_have_functions_of_their_own(model):
    X, y = _data(1)
    fitted = clone(model).set_params(groups=["a", "b", "a"]).fit(X, y)
    table = np.isfinite(fitted.alpha_)
    np.testing.assert_array_equal(table[0], table[2])
    np.testing.assert_allclose(fitted.alpha_[0], fitted.alpha_[2], rtol=1e-12)
    assert (table[0] != table[1]).any()


@models
@pytest.mark.parametrize("prior", ["uniform", "bic"])
def test_a_label_for_each_class_is_no_sharing(model, prior):
    X, y = _data(2)
    plain, own = (clone(model).set_params(groups=groups, prior=prior).fit(X, y) for groups in (None, [2, 7, 5]))
    np.testing.assert_array_equal(own.terms_, plain.terms_)
    np.testing.assert_array_equal(own.predict_proba(X), plain.predict_proba(X))
    assert own.log_evidence_ == plain.log_evidence_


@pytest.mark.slow
@models
@pytest.mark.parametrize("moderated", [False, True])
def test_probabilities_sum_to_one(model, moderated):
    X, y = _data(3, K=4)
    fitted = clone(model).set_params(groups=[0, 1, 1, 0], moderated=moderated).fit(X, y)
    p = fitted.predict_proba(np.vstack([X, 10 * X]))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-9)
    assert (p >= 0).all()
    np.testing.assert_array_equal(fitted.classes_[p[: len(X)].argmax(axis=1)], fitted.predict(X))


@models
def test_labels_go_with_the_classes_whatever_these_are_called(model):
    X, y = _data(4)
    names = {"red": "a", "green": "c", "blue": "b"}  # blue, green, red were the classes in ascending order
    one = clone(model).set_params(groups=[0, 0, 1]).fit(X, y)
    two = clone(model).set_params(groups=[1, 0, 0]).fit(X, np.asarray([names[each] for each in y]))
    np.testing.assert_allclose(two.predict_proba(X), one.predict_proba(X)[:, [2, 0, 1]], atol=1e-9)
    assert one.log_evidence_ == pytest.approx(two.log_evidence_, rel=1e-10)


def test_kernels_of_low_rank_end_on_true_columns():
    """1,600 points, whose kernel is never formed: the model is one of the true kernel."""
    X, y = _data(6, n=1600)
    bound = RBF(gamma=0.5).bind(X[:, :2])
    options = {"likelihood": Multinomial(), "groups": [0, 0, 1], "fit_intercept": True}
    operator = bound.operator(X[:, :2])
    assert operator.low_rank(1e-7) is not None
    low, whole = (fit(Phi, y, **options) for Phi in (operator, bound(X[:, :2])))
    assert low.converged
    assert low.certificate.is_local_maximum
    assert low.log_evidence == pytest.approx(whole.log_evidence, abs=0.5)
    np.testing.assert_array_equal(low.active[low.output == 0], low.active[low.output == 1])


@pytest.mark.parametrize("polish", [False, True])
def test_every_namespace_gives_the_same_model(polish):
    Phi, kinds = random_classes(5, 80, 6, 3)
    options = {
        "likelihood": Multinomial(),
        "groups": [0, 1, 0],
        "fit_intercept": True,
        "prior": "aic",
        "polish": polish,
    }
    one, other = (fit(each, kinds, **options) for each in (Phi, array_api_strict.asarray(Phi)))
    np.testing.assert_array_equal(other.active, one.active)
    np.testing.assert_allclose(np.asarray(other.mean), one.mean, rtol=1e-5, atol=1e-7)
    assert other.log_evidence == pytest.approx(one.log_evidence, rel=1e-8)


def test_widths_are_learned_as_without_groups():
    X, y = _data(5, n=400)
    learned = RelevanceVectorClassifier(groups=[0, 0, 0]).fit(X[:, :2], y)
    assert len(learned.terms_) == 3 * len(learned.relevance_)
    assert np.isfinite(learned.scales_).all()
    assert learned.certificate_.is_local_maximum


@pytest.mark.parametrize("prior", ["uniform", "bic"])
def test_a_polished_fit_is_a_certified_maximum_and_higher(prior):
    Phi, kinds = random_classes(5, 200, 6, 3)
    options = {"likelihood": Multinomial(), "prior": prior, "groups": [0, 0, 0], "fit_intercept": True}
    published, polished = (fit(Phi, kinds, polish=polish, **options) for polish in (False, True))
    assert polished.objective >= published.objective - 1e-9
    assert polished.certificate.is_local_maximum


def test_the_parameter_is_one_of_scikit_learn():
    model = RelevanceVectorClassifier(groups=["a", "b", "a"])
    assert model.get_params()["groups"] == ["a", "b", "a"]
    assert clone(model).groups == ["a", "b", "a"]
    assert SparseBayesClassifier().get_params()["groups"] is None


@models
@pytest.mark.parametrize(
    ("groups", "K", "message"),
    [
        ([0, 0], 2, r"^groups must be None for two classes, which have one output together, got \[0, 0\]\.$"),
        ([0, 0], 3, r"^groups must have one label for each of 3 classes, got an array of shape \(2,\)\.$"),
        ("all", 3, r"^groups must have one label for each of 3 classes, got an array of shape \(\)\.$"),
    ],
)
def test_bad_groups_get_one_sentence(model, groups, K, message):
    X, y = _data(0, K)
    with pytest.raises(ValueError, match=message):
        clone(model).set_params(groups=groups).fit(X, y)


def test_columns_without_a_prior_are_refused_by_their_name():
    X, y = _data()
    with pytest.raises(ValueError, match="unpenalised needs Gaussian noise"):
        fit(X, y, likelihood="multinomial", groups=[0, 0, 0], unpenalised=[1])
