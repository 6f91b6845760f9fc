"""Models as ONNX predict as they do in Python."""

import numpy as np
import pytest
from export_examples import EXPORTABLE, NO_FORMULA, classifiers, example_of, regressors
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LinearRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from sparsebayes import (
    RBF,
    Cosine,
    KernelSum,
    Linear,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseBayesRegressor,
)
from sparsebayes.export import export_onnx, register_converters, to_onnx
from sparsebayes.export.functions import functions_of
from sparsebayes.export.onnx_file import model_of

onnxruntime = pytest.importorskip("onnxruntime")

CLASSIFIERS = [
    f"{count}, {kind}"
    for count in ("two", "many")
    for kind in ("kernel", "learned", "not moderated", "not calibrated", "parts", "columns", "certain")
]
REGRESSORS = "kernel learned augmented parts outputs separate columns".split()


def run(proto, X):
    """The outputs of an ONNX model."""
    content = proto if isinstance(proto, bytes) else proto.SerializeToString()
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (name,) = (each.name for each in session.get_inputs())
    return session.run(None, {name: X})


def of_rows(values):
    return values.reshape(len(values), -1)


@pytest.mark.parametrize("basis", EXPORTABLE, ids=repr)
def test_every_kernel_with_a_formula_near_far_and_at_training_points(basis):
    for seed in (0, 1):
        example = example_of(basis, seed)
        mean, std = run(model_of(example.description, np.float64, "test"), example.queries)
        np.testing.assert_allclose(mean, example.mean, rtol=1e-9)
        np.testing.assert_allclose(std, example.std, rtol=1e-9)


@pytest.mark.parametrize(
    "basis", [Cosine(), KernelSum([RBF(0.3)], weights=[0.3]), RBF(0.3), Linear()], ids=lambda basis: repr(basis)
)
@pytest.mark.parametrize("size", [1.0, 1e-28])
def test_runtimes_keep_factors_and_terms_that_are_one_number(basis, size):
    """With one function, and in any unit of the targets."""
    x = np.column_stack([np.linspace(0.1, 3, 40), np.linspace(1, -1, 40) ** 2])
    model = RelevanceVectorRegressor(basis, max_vectors=1).fit(x, size * (np.cos(x[:, 0]) + 0.1 * np.sin(99 * x[:, 0])))
    mean, std = run(to_onnx(model, std=True, verbose=False), x)
    expected = model.predict(x, return_std=True)
    np.testing.assert_allclose(mean[:, 0], expected[0], rtol=1e-9)
    np.testing.assert_allclose(std[:, 0], expected[1], rtol=1e-9)


def test_no_rows_give_no_predictions():
    for models in (regressors(), classifiers()):
        for model, X in models.values():
            std = models is regressors()
            found = run(to_onnx(model, std=std, verbose=False), X)
            none = run(to_onnx(model, std=std, verbose=False), X[:0])
            assert [each.shape for each in none] == [(0, *each.shape[1:]) for each in found]


def test_numbers_beyond_double_precision_are_refused():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = SparseBayesRegressor().fit(1e-300 * X, X[:, 0] + 0.1 * X[:, 1] ** 2)
    with pytest.raises(ValueError, match="model has a number beyond the range of double precision"):
        to_onnx(model, std=True)


@pytest.mark.parametrize("basis", NO_FORMULA, ids=lambda basis: repr(basis).split(" at 0x")[0])
def test_functions_without_a_formula_are_refused_in_a_sentence(basis):
    X = np.random.default_rng(0).uniform(size=(8, 8))
    bound = basis.bind(X[:, :3] if "Kernel" in repr(basis) or "transformer" in repr(basis) else X)
    with pytest.raises(ValueError, match=r"^model has .* which cannot be exported: .*\.$"):
        functions_of(bound, 8)


def test_a_subclass_of_a_kernel_with_another_formula_is_refused():
    class Halved(RBF):
        def evaluate(self, X, Z):
            return 0.5 * super().evaluate(X, Z)

    with pytest.raises(ValueError, match=r"Halved.*formula is not known"):
        functions_of(Halved(0.5).bind(np.zeros((3, 1))), 1)


@pytest.mark.parametrize("name", sorted(regressors()))
def test_mean_and_std_of_regressors(name):
    model, X = regressors()[name]
    mean, std = run(to_onnx(model, std=True, verbose=False), X)
    expected = model.predict(X, return_std=True)
    np.testing.assert_allclose(mean, of_rows(expected[0]), rtol=1e-9)
    np.testing.assert_allclose(std, of_rows(expected[1]), rtol=1e-9)
    (alone,) = run(to_onnx(model, verbose=False), X)
    np.testing.assert_array_equal(alone, mean)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_and_probabilities_of_classifiers(name):
    model, X = classifiers()[name]
    label, probability = run(to_onnx(model, verbose=False), X)
    np.testing.assert_allclose(probability, model.predict_proba(X), rtol=1e-9)
    assert label.tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("name", ["two, learned", "many, kernel"])
def test_single_precision_classifies_as_well(name):
    model, X = classifiers()[name]
    label, probability = run(to_onnx(model, dtype="float", verbose=False), X.astype(np.float32))
    assert probability.dtype == np.float32
    np.testing.assert_allclose(probability, model.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(label, model.predict(X))


def test_probabilities_far_from_the_boundary_keep_their_digits():
    """A probability that is small is as accurate as one that is not, for narrow and for wide posteriors."""
    x = np.linspace(-1, 1, 40)[:, None]
    model = RelevanceVectorClassifier("linear").fit(x, (x[:, 0] > 0.05).astype(int))
    X = np.asarray([[-0.1], [1.0], [-9.0], [40.0], [-300.0]])
    _, probability = run(to_onnx(model, verbose=False), X)
    np.testing.assert_allclose(probability, model.predict_proba(X), rtol=1e-9)


def test_the_error_of_single_precision_is_printed_and_is_that_of_the_runtime(capsys, tmp_path):
    model, X = regressors()["kernel"]
    found = export_onnx(model, tmp_path / "model.onnx", X, dtype="float", std=True)
    said = capsys.readouterr().out
    assert said == f"{found}\n"
    assert f"{found.error:.1e}" in said
    content = (tmp_path / "model.onnx").read_bytes()
    assert found.size == len(content)
    mean, std = run(content, X.astype(np.float32))
    expected = model.predict(X, return_std=True)
    measured = np.abs(mean[:, 0] - expected[0]).max() / np.abs(expected[0]).max()
    assert measured / 20 < found.error < measured * 20
    assert np.abs(std[:, 0] / expected[1] - 1).max() < 20 * found.std_error
    assert 1e-9 < found.error < 1e-4


def test_the_error_is_measured_at_the_relevance_vectors_unless_rows_are_given(capsys):
    model, X = regressors()["kernel"]
    to_onnx(model)
    assert f"at {len(model.relevance_vectors_)} rows" in capsys.readouterr().out
    to_onnx(model, X[:4])
    assert "at 4 rows" in capsys.readouterr().out


def test_an_export_is_all_or_nothing(tmp_path, monkeypatch):
    model, _ = regressors()["kernel"]
    path = tmp_path / "model.onnx"
    path.write_bytes(b"before")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("no space")))
    with pytest.raises(OSError, match="no space"):
        export_onnx(model, path, verbose=False)
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["model.onnx"]


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ({"dtype": "half"}, ValueError, "dtype must be 'double' or 'float', got 'half'"),
        ({"X_sample": np.zeros((2, 5))}, ValueError, "X_sample must have 2 columns"),
    ],
)
def test_wrong_arguments_are_named(arguments, error, match):
    with pytest.raises(error, match=match):
        to_onnx(regressors()["kernel"][0], **arguments)


def test_wrong_models_are_named():
    with pytest.raises(TypeError, match=r"model must be one of .*, got LinearRegression"):
        to_onnx(LinearRegression())
    with pytest.raises(ValueError, match="std must be False for RelevanceVectorClassifier"):
        to_onnx(classifiers()["two, kernel"][0], std=True)
    x = np.linspace(0, 6, 30)[:, None]
    model = RelevanceVectorRegressor(gamma="evidence", variance="gp").fit(x, np.sin(x[:, 0]))
    with pytest.raises(ValueError, match="std must be False with variance='gp'"):
        to_onnx(model, std=True)
    (mean,) = run(to_onnx(model, verbose=False), x)
    np.testing.assert_allclose(mean[:, 0], model.predict(x), rtol=1e-9, atol=1e-12)


def test_a_model_without_functions_is_its_intercept():
    X = np.random.default_rng(0).normal(size=(40, 3))
    with pytest.warns(UserWarning, match="y"):
        model = SparseBayesRegressor().fit(X, np.full(40, 2.5))
    mean, std = run(to_onnx(model, std=True, verbose=False), X)
    np.testing.assert_array_equal(mean, np.full((40, 1), 2.5))
    np.testing.assert_allclose(std[:, 0], model.predict(X, return_std=True)[1], atol=1e-15)


class TestConverters:
    """skl2onnx exports the estimators, alone and in pipelines."""

    @pytest.fixture(autouse=True)
    def converters(self):
        self.skl2onnx = pytest.importorskip("skl2onnx")
        register_converters()

    def run(self, pipeline, X, **options):
        found = self.skl2onnx.to_onnx(pipeline, X[:1], options={id(pipeline[-1]): options} if options else None)
        return run(found, X)

    @pytest.mark.parametrize("kind", [np.float64, np.float32])
    def test_regressors_with_the_standard_deviation(self, kind):
        for model, X in (regressors()["kernel"], regressors()["outputs"], regressors()["columns"]):
            pipeline = make_pipeline(StandardScaler().fit(X))
            pipeline.steps.append(("model", model))
            mean, std = self.run(pipeline, X.astype(kind), return_std=True)
            expected, tolerance = pipeline.predict(X, return_std=True), 1e-9 if kind is np.float64 else 1e-4
            np.testing.assert_allclose(mean, of_rows(expected[0]), rtol=tolerance, atol=tolerance)
            np.testing.assert_allclose(std, of_rows(expected[1]), rtol=tolerance, atol=tolerance)
            (alone,) = self.run(pipeline, X.astype(kind))
            np.testing.assert_array_equal(alone, mean)

    def test_transformers_before_the_estimator(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(60, 3))
        pipeline = make_pipeline(PolynomialFeatures(3, include_bias=False), StandardScaler(), SparseBayesRegressor())
        pipeline.fit(X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=60))
        (mean,) = self.run(pipeline, X)
        np.testing.assert_allclose(mean[:, 0], pipeline.predict(X), rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("name", ["two, learned", "many, kernel", "many, columns"])
    def test_classifiers(self, name):
        model, X = classifiers()[name]
        pipeline = make_pipeline(StandardScaler().fit(X))
        pipeline.steps.append(("model", model))
        label, probability = self.run(pipeline, X, zipmap=False)
        np.testing.assert_allclose(probability, pipeline.predict_proba(X), rtol=1e-9)
        assert label.tolist() == pipeline.predict(X).tolist()
        _, listed = self.run(pipeline, X.astype(np.float32))
        np.testing.assert_allclose([[row[c] for c in model.classes_] for row in listed], probability, atol=1e-4)
        _, scores = self.run(pipeline, X, zipmap=False, raw_scores=True)
        f = pipeline.decision_function(X)
        np.testing.assert_allclose(scores, np.column_stack([-f, f]) if f.ndim == 1 else f, rtol=1e-9, atol=1e-12)
        with pytest.raises(ValueError, match=r"zipmap=False for .* with inputs of double precision"):
            self.run(pipeline, X)

    @pytest.mark.parametrize("moderated", [True, False])
    @pytest.mark.parametrize("kinds", [2, 3])
    def test_classifiers_inside_others(self, kinds, moderated):
        """Calibration is of `decision_function`, and a classifier for each class of probabilities."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(90, 2))
        y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=90), [0.0] if kinds == 2 else [-0.5, 0.5])
        own = RelevanceVectorClassifier(moderated=moderated)
        for model in (CalibratedClassifierCV(own, cv=2), OneVsRestClassifier(own)):
            model.fit(X, y)
            label, probability = run(self.skl2onnx.to_onnx(model, X[:1], options={id(model): {"zipmap": False}}), X)
            np.testing.assert_allclose(probability, model.predict_proba(X), atol=1e-6)  # some of their nodes are single
            assert label.tolist() == model.predict(X).tolist()
