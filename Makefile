# Everything runs inside .venv, which is made on first use and renewed when the pins change.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.installed

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test slow faults frameworks lint clean

demo: $(READY)  ## install, then the main job on data that comes inside a dependency
	$(BIN)/reweigh demo

test: $(READY)  ## the fast tests, two processes with one thread each
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not slow"

slow: $(READY)  ## the tests that take minutes
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m slow

faults: $(READY)  ## kills, signals, damaged files, NaN, fuzzed settings: tried and survived
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.faults

frameworks: $(READY)  ## the adapters, with Lightning, Hugging Face's Trainer and Accelerate installed
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[all,dev,frameworks]'
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/adapters

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis build dist

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[all,dev]'
	touch $@
