# Footpath's commands. `make help` lists them.
#
# Every command brings .venv up to date first (.ci/venv), which says and does nothing when it already is.
# ARGS goes to pytest: make test ARGS="tests/unit/graph -x". PYTHON picks the interpreter: make setup PYTHON=python3.12.
# make test, make test-all and make check also take JOBS, the number of processes.

SHELL := /bin/sh
.DEFAULT_GOAL := help
ARGS ?=
# One more than most small machines have cores: tests wait for processes and sockets about as long as they compute.
JOBS ?= 3
ifdef PYTHON
export PYTHON
endif
# Whatever the shell says: without kept bytecode each of the many processes compiles every package anew, for seconds.
unexport PYTHONDONTWRITEBYTECODE
run := .venv/bin/python
# Console scripts hold an absolute path in their first line, so tools are started as modules where they allow it.
pytest := $(run) -m pytest
LOCK := uv pip compile pyproject.toml --universal --python-version 3.11 --quiet --no-header --no-emit-index-url \
  --no-emit-find-links --generate-hashes --annotation-style line

.PHONY: help setup dev demo up test test-all check style types duplicates layers architecture format bench mutate test-neural test-ray test-langchain lock sbom advisories \
  digests secrets clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

setup: ## Create or update .venv with what the application needs
	@.ci/venv run

dev: ## The same, and the tools that check it
	@.ci/venv dev

demo: setup ## Start the playground, build its graph, ask five requests and check the answers
	@$(run) scripts/demo.py

up: setup ## Start the playground, the server and the chat page, until Ctrl-C (ARGS)
	@exec $(run) scripts/up.py $(ARGS)

ours := not bench and not neural and not ray and not langchain
# Files go to the processes in the order of their folders: the flows early, the small files of tests/unit at the end.
spread = -n $(JOBS) --dist loadfile --no-loadscope-reorder
test: dev ## Run what needs no server, no browser, no killed process and no long flow (ARGS, JOBS)
	@$(pytest) -m "$(ours) and not outer" $(spread) $(ARGS)

test-all: dev ## Run all tests but the measurements and those that need torch, Ray or LangChain (ARGS, JOBS)
	@$(pytest) -m "$(ours)" $(spread) $(ARGS)

check: dev ## Formatting, lint, types, layers, duplicates, architecture (JOBS)
	@$(MAKE) --no-print-directory --jobs=$(JOBS) --output-sync=target style types duplicates layers architecture

style:
	@$(run) -m ruff format --check
	@$(run) -m ruff check

types:
	@$(run) -m pyright --warnings

duplicates:
	@$(run) -m pylint --jobs=2 --score=n domain graph retriever agent offline synthesis evaluation admission wiring server ui playground footpath scripts

layers:
	@.venv/bin/lint-imports --no-cache

architecture:
	@$(pytest) -q tests/architecture

format: dev ## Format and fix what can be fixed
	@$(run) -m ruff format
	@$(run) -m ruff check --fix

bench: dev ## Run the measurements and print their figures (ARGS)
	@$(pytest) -m bench -s --timeout 900 $(ARGS)

mutate: dev ## Count which deliberate faults the tests notice; goes on where Ctrl-C stopped it (ARGS=graph/weights.py, JOBS)
	@$(run) -m tests.mutation --jobs $(JOBS) $(ARGS)

test-neural: ## Run the tests that need torch: installs it first, several gigabytes (ARGS)
	@.ci/venv neural
	@$(pytest) -m neural $(ARGS)

test-ray: ## Run the tests that need Ray: installs it first, and starts two nodes on loopback addresses (ARGS)
	@.ci/venv ray
	@$(pytest) -m "ray and not bench" $(ARGS)

test-langchain: ## Run the tests that need LangChain's agents: installs them first (ARGS)
	@.ci/venv langchain
	@$(pytest) -m "langchain and not bench" $(ARGS)

lock: ## Pin again what pyproject.toml asks for, newest versions first (needs uv)
	@command -v uv >/dev/null || { echo "make lock needs uv: pipx install uv" >&2; exit 2; }
	$(LOCK) --upgrade --group build --output-file requirements.lock
	$(LOCK) --upgrade --group dev --constraint requirements.lock --output-file requirements-dev.lock
	$(LOCK) --upgrade --group dev --extra neural --constraint requirements-dev.lock --output-file requirements-neural.lock
	$(LOCK) --upgrade --group dev --extra ray --constraint requirements-dev.lock --output-file requirements-ray.lock
	$(LOCK) --upgrade --group dev --extra langchain --constraint requirements-dev.lock --output-file requirements-langchain.lock

sbom: dev ## Write what the application is installed with as CycloneDX JSON: build/sbom.cdx.json (ARGS)
	@$(run) scripts/write_sbom.py $(ARGS)

advisories: dev ## Ask for known holes of all locked packages; needs the network (ARGS)
	@$(run) scripts/scan_advisories.py $(ARGS)

digests: setup ## Pin the images of the Compose file and the Dockerfile by digest; needs docker and the network (ARGS)
	@$(run) scripts/pin_images.py $(ARGS)

secrets: setup ## Make the passwords that the Compose file's servers and the application share, once
	@$(run) scripts/make_secrets.py

clean: ## Remove .venv and every cache
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist footpath.egg-info .cache/mutation
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
