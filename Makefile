# One command a job; `make demo` and `make test` work on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A process a core, but no more than the memory of a laptop holds.
SPREAD := -n auto --maxprocesses 4 --dist worksteal

.PHONY: demo test test-slow test-oldest laws mutants lint format docs bench clean

$(VENV)/run: setup.py pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e ".[serving,viz]"
	touch $@

$(VENV)/develop: setup.py pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e ".[all]"
	touch $@ $(VENV)/run

demo: $(VENV)/run
	rm -rf runs/demo
	$(BIN)/keras-selfattn demo --output runs/demo

test: $(VENV)/develop
	$(BIN)/python -m pytest $(SPREAD)

test-slow: $(VENV)/develop
	$(BIN)/python -m pytest $(SPREAD) -m slow

# The oldest Keras and TensorFlow that setup.py admits.
$(VENV)-oldest/ready: setup.py
	$(PYTHON) -m venv $(VENV)-oldest
	$(VENV)-oldest/bin/pip install --quiet keras==3.10.0 tensorflow==2.19.1 \
		pytest pytest-xdist scikit-learn -e .
	touch $@

test-oldest: $(VENV)-oldest/ready
	$(VENV)-oldest/bin/python -m pytest $(SPREAD) tests/conformance \
		tests/layers tests/models tests/test_regularizers.py \
		tests/test_optimizers.py

laws: $(VENV)/develop
	PYTEST_ADDOPTS="$(SPREAD)" $(BIN)/python -m tests.conformance

# What it found is kept in runs/mutants.jsonl, and it goes on from there.
mutants: $(VENV)/develop
	$(BIN)/python -m tests.mutants

lint: $(VENV)/develop
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/develop
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Into build/site; its first page is index.html.
docs: $(VENV)/develop
	$(BIN)/mkdocs build --strict

bench: $(VENV)/develop
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(VENV)-oldest runs build dist *.egg-info
