PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# one BLAS thread: two test workers must not fight over the cores, and timings must compare
export OPENBLAS_NUM_THREADS := 1
export OMP_NUM_THREADS := 1
export MKL_NUM_THREADS := 1

.PHONY: demo test test-slow lint format bench papers docs clean
.DEFAULT_GOAL := test

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# one stamp for each set of extras, so that `make demo` need not wait for the linters
$(VENV)/%.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@

demo: $(VENV)/plot.stamp
	@$(BIN)/python examples/demo.py

test: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n 2 --dist worksteal --quiet -m "not slow"

# what is left: many cases of what `make test` tests with a few, and programs of pages
test-slow: $(VENV)/test.stamp
	$(BIN)/python -m pytest -n 2 --dist worksteal --quiet -m slow

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/dev.stamp
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.speed.regression
	$(BIN)/python -m benchmarks.speed.classification
	$(BIN)/python -m benchmarks.speed.scaling

# an interrupted run resumes; the real data sets are described in docs/papers.md
papers: $(VENV)/bench.stamp
	$(BIN)/python -m benchmarks.papers --full

# the site, with the examples of the gallery executed: build/docs/index.html
docs: $(VENV)/docs.stamp
	$(BIN)/python -m sphinx -W --keep-going -b html docs build/docs

clean:
	rm -rf $(VENV) build dist docs/gallery docs/generated docs/sg_execution_times.rst .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
