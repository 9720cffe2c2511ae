# One command a job; `make demo` and `make test` work on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# One process more than cores, as tests wait for commands and servers, but no
# more than the memory of a laptop holds.
PROCESSES := $(shell $(PYTHON) -c \
	"import os; print(min(1 + (os.cpu_count() or 1), 4))")
SPREAD := -n $(PROCESSES) --dist worksteal
# One after the other, the longest first.
SPREAD_SLOW := -n $(PROCESSES) --dist load --maxschedchunk 1

.PHONY: demo test test-slow test-oldest test-oldest-extras dist coverage \
	sbom audit laws mutants faults lint types format docs bench clean

$(VENV)/run: setup.py pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet -e ".[viz]"
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
	$(BIN)/python -m pytest $(SPREAD_SLOW) -m slow

# What users install: the wheel, made of the source archive.
dist: $(VENV)/develop
	rm -rf build/dist
	$(BIN)/python -m build --outdir build/dist . >/dev/null

# The oldest version of each package that setup.py admits, and the wheel.
$(VENV)-oldest/ready: setup.py tests/oldest.py
	$(PYTHON) -m venv --clear $(VENV)-oldest
	$(VENV)-oldest/bin/pip install --quiet setuptools
	$(VENV)-oldest/bin/pip install --quiet hypothesis pytest pytest-xdist \
		scikit-learn $$($(VENV)-oldest/bin/python tests/oldest.py)
	touch $@

test-oldest: $(VENV)-oldest/ready dist
	$(VENV)-oldest/bin/pip install --quiet --no-deps --force-reinstall \
		build/dist/*.whl
	$(VENV)-oldest/bin/python tests/installed.py
	$(VENV)-oldest/bin/python -m pytest $(SPREAD) tests/conformance \
		tests/models tests/test_regularizers.py tests/test_optimizers.py \
		--ignore=tests/conformance/models \
		--ignore=tests/models/test_first_step.py \
		--ignore=tests/models/test_hostile_weights.py \
		--ignore=tests/models/test_ngrams.py \
		--ignore=tests/conformance/test_scale.py
	$(VENV)-oldest/bin/python -m pytest -m "" tests/cli/test_exporting.py \
		tests/training/test_run.py::test_a_run_goes_on_within_an_epoch

EXTRAS := tuning reproduction sklearn viz parquet zstd serving cluster hub app \
	formats

# The oldest versions that these extras admit, all together.
$(VENV)-oldest-extras/ready: setup.py tests/oldest.py
	$(PYTHON) -m venv --clear $(VENV)-oldest-extras
	$(VENV)-oldest-extras/bin/pip install --quiet setuptools
	$(VENV)-oldest-extras/bin/pip install --quiet hypothesis pytest \
		pytest-xdist \
		$$($(VENV)-oldest-extras/bin/python tests/oldest.py $(EXTRAS))
	touch $@

# Old packages call what newer ones below them are about to drop.
test-oldest-extras: $(VENV)-oldest-extras/ready
	$(VENV)-oldest-extras/bin/python -m pytest $(SPREAD) \
		-W ignore::DeprecationWarning tests/data \
		tests/encoding tests/reproduction tests/serving tests/tuning \
		tests/visualization tests/zoo tests/test_wrappers.py

# Lines and branches that no test of the default run reaches.
coverage: $(VENV)/develop
	$(BIN)/python -m pytest $(SPREAD) --cov --cov-report=term-missing

$(VENV)-audit/ready:
	$(PYTHON) -m venv $(VENV)-audit
	$(VENV)-audit/bin/pip install --quiet cyclonedx-bom pip-audit
	touch $@

# Of the packages in the environment of `make demo` or `make test`.
sbom: $(VENV)/run $(VENV)-audit/ready
	mkdir -p build
	$(VENV)-audit/bin/cyclonedx-py environment --output-reproducible \
		-o build/sbom.cdx.json $(BIN)/python

audit: $(VENV)/run $(VENV)-audit/ready
	$(VENV)-audit/bin/pip-audit --progress-spinner off \
		--path $$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")

laws: $(VENV)/develop
	PYTEST_ADDOPTS="$(SPREAD)" $(BIN)/python -m tests.conformance

# What it found is kept in runs/mutants.jsonl, and it goes on from there.
mutants: $(VENV)/develop
	$(BIN)/python -m tests.mutants

# The same with runs/faults.jsonl.
faults: $(VENV)/develop
	$(BIN)/python -m tests.faults

lint: types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/develop
	$(BIN)/mypy

format: $(VENV)/develop
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Into build/site; its first page is index.html.
docs: $(VENV)/develop
	$(BIN)/mkdocs build --strict

bench: $(VENV)/develop
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) $(VENV)-oldest $(VENV)-oldest-extras $(VENV)-audit runs \
		build *.egg-info
