# Everything a person or CI runs. Each target sets up what it needs; nothing has to be run before it.

VENV = .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.footnote-setup
STAMP_RUNTIME = $(VENV)/.footnote-runtime
LOCKED = requirements.lock
LOCKED_RUNTIME = requirements-runtime.lock
LOCKED_BENCH = requirements-bench.lock
LOCKED_SERVICE = requirements-service.lock
WORKERS = 3
COVERAGE =
UV = uv
COMPILE_LOCK = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --custom-compile-command "make lock" pyproject.toml

.PHONY: help setup demo test test-fast kill-test check docs bench lock clean

help:
	@echo "make demo       chat with the sample library in your browser; needs no keys or servers"
	@echo "make test       run all tests; COVERAGE=yes also measures branch coverage, in twice the time"
	@echo "make test-fast  run the tests that take milliseconds"
	@echo "make kill-test  kill the service 60 times during 500 questions, and count the answers; takes minutes"
	@echo "make check      run every check of .pre-commit-config.yaml"
	@echo "make docs       build the docs as a site into site/"
	@echo "make bench      measure speed and memory, also of the bare embedder and LlamaIndex"
	@echo "make setup      install everything from $(LOCKED) into $(VENV); the others do it first"
	@echo "make lock       update the locks from pyproject.toml (needs uv and a network)"
	@echo "make clean      remove $(VENV) and all caches"

setup: $(STAMP)

# What the service needs, without development tools. `make setup` adds them to the same environment.
$(STAMP_RUNTIME): $(LOCKED_RUNTIME) pyproject.toml
	@.ci/install $(LOCKED_RUNTIME) $(VENV)
	@touch $@

# Bytecode is compiled here, whatever PYTHONDONTWRITEBYTECODE says, because a cold `footnote search` would otherwise spend
# its first seconds on it; some packages ship templates that are not Python, so what can't be compiled in them is no error.
$(STAMP): $(LOCKED) pyproject.toml
	@.ci/install $(LOCKED) $(VENV)
	@unset PYTHONDONTWRITEBYTECODE; \
	$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null 2>&1 || :; \
	$(BIN)/python -m compileall -q bot core storage
	@touch $(STAMP_RUNTIME) $@

# Where there is no terminal, the command itself answers the example questions and leaves. It compiles only the modules
# that it imports; all of them would take three times as long.
demo: $(STAMP_RUNTIME)
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/footnote demo

test: setup
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(if $(COVERAGE),--cov --cov-report=term)

test-fast: setup
	$(BIN)/python -m pytest -n 0 -m "not slow" tests/unit

kill-test: setup
	$(BIN)/python -m tests.kill

check: setup
	$(BIN)/pre-commit run --all-files

docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: setup $(VENV)/.footnote-bench
	$(BIN)/python -m tests.benchmarks

$(VENV)/.footnote-bench: $(STAMP) $(LOCKED_BENCH)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(LOCKED_BENCH)
	@touch $@

lock:
	$(COMPILE_LOCK) --group build --group dev -o $(LOCKED)
	$(COMPILE_LOCK) --group build --group dev --group bench --group pictures -c $(LOCKED) -o $(LOCKED_BENCH)
	$(COMPILE_LOCK) --group build -c $(LOCKED) -o $(LOCKED_RUNTIME)
	$(COMPILE_LOCK) --group build --extra postgres --extra foundry --extra ocr -c $(LOCKED) -o $(LOCKED_SERVICE)

clean:
	rm -rf $(VENV) .coverage .coverage.* htmlcov site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find bot core storage tests -name __pycache__ -type d -prune -exec rm -rf {} +
