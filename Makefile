# `make` alone lists what there is. Everything runs in .venv, which is made from the lock file.

SHELL := /bin/bash
.DEFAULT_GOAL := help
JOBS ?= 2
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest

.PHONY: help venv demo up down test test-all test-fast test-hosts check lint docs nightly bench bench-batch bench-growth bench-peers campaign wheel lock clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: ## the virtual environment, from requirements-dev.lock
	@scripts/venv

demo: venv ## one law through every gate, then a batch; KEEP=1 leaves the stack running, LAWS=folder cuts your own laws
	@$(BIN)/cutter demo $(if $(KEEP),--keep) $(if $(LAWS),--laws "$(LAWS)")

up: venv ## start database, Temporal and the three workers
	@$(BIN)/cutter up

down: venv ## stop them; data stays
	@$(BIN)/cutter down

test: venv ## every promise once on the real parts, in parallel (JOBS=2); less than ten minutes on two free cores
	@$(PYTEST) -n $(JOBS) --dist loadgroup -m promise $(ARGS)

test-all: venv ## the whole suite on the real parts
	@$(PYTEST) -n $(JOBS) --dist loadgroup $(ARGS)

test-fast: venv ## the tests that need no Temporal; less than two minutes on two free cores
	@$(PYTEST) -n $(JOBS) -m promise tests/unit tests/property tests/architecture $(ARGS)

test-hosts: venv ## as root: a cluster with TLS and a standby, of which everything is killed; less than 30 minutes, for each night
	@$(BIN)/python -m tests.campaigns hosts $(ARGS)

docs: venv ## build the documentation site in build/site; a broken link fails
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build

lint: venv docs ## style, types, import contracts, links of the documentation
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

nightly: venv ## tests that take too long for every commit, then for an hour the campaigns whose records are the oldest
	@CUTTER_TESTS=nightly $(PYTEST) -n $(JOBS) --dist loadgroup tests/campaigns tests/installed tests/property $(ARGS)
	@$(BIN)/python -m tests.campaigns --rotate 60 --seed $$(date +%Y%m%d)

check: lint test ## lint and the whole suite

bench: venv ## the benchmarks (benchmarks/README.md)
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-bench.lock
	@$(BIN)/python -m benchmarks $(ARGS)

bench-batch: venv ## batches of 10 and 100 documents compared with the serial loop; ARGS="--documents 1000" for more
	@$(BIN)/python -m benchmarks.batch $(ARGS)

bench-growth: venv ## a document in an empty database compared with databases of up to a million units; ARGS="--units 2000 --runs 500" for a quick look
	@$(BIN)/python -m benchmarks.growth $(ARGS)

bench-peers: venv ## the same gates driven by the product, DBOS, plain Temporal and a loop; ARGS="--documents 4 --rounds 1" for a quick look
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements-bench.lock
	@$(BIN)/python -m benchmarks.peers $(ARGS)

campaign: venv ## the long fault campaigns (docs/internals/proof.md); ARGS picks one
	@$(BIN)/python -m tests.campaigns $(ARGS)

wheel: venv ## build the wheel in dist
	@scripts/wheel

lock: venv ## write the lock files again from pyproject.toml
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --no-emit-find-links pyproject.toml -o requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --extra dev -c requirements.lock \
		pyproject.toml -o requirements-dev.lock
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --extra bench -c requirements-dev.lock \
		pyproject.toml -o requirements-bench.lock
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --no-emit-find-links -c requirements.lock \
		--extra s3 --extra desk --extra otel pyproject.toml -o requirements-deploy.lock
	@$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-emit-index-url --no-emit-find-links deploy/tools.in -o deploy/tools.lock

clean: ## stop the stack, remove .venv and caches; STATE=1 removes the local data too
	@if [ -x $(BIN)/cutter ]; then $(BIN)/cutter down; fi
	@rm -rf .venv .venv.lock .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist *.egg-info
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@$(if $(STATE),rm -rf .cutter,true)
