# `make build` and `make test` do all the set-up: they need Python >= 3.11, and nothing beside the checkout.

PYTHON ?= python3
SPECS ?= specs/
JOBS ?= auto
EXAMPLES ?= 60

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed

.DEFAULT_GOAL := help
.PHONY: help install build test verify lint drift check bench mutants clean

help: ## Show the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/\1\t\2/p' $(firstword $(MAKEFILE_LIST))

install: $(INSTALLED) ## Create .venv, or update it after a change of pyproject.toml

build: $(INSTALLED) ## Compile the specs into generated/
	$(BIN)/distgen build $(SPECS)
	$(BIN)/distgen list $(SPECS)

test: $(INSTALLED) ## Run the tests
	$(BIN)/python -m pytest -n $(JOBS) --maxprocesses 8

verify: $(INSTALLED) ## Put many more cases to the laws, those of distrax too, and write report.html
	$(BIN)/distgen verify --baseline --examples $(EXAMPLES) --report report.html $(SPECS)

lint: $(INSTALLED) ## Check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

drift: $(INSTALLED) ## Check that generated/ is what the specs make
	$(BIN)/distgen build --check $(SPECS)

check: drift lint test ## Run all that a change must pass

bench: $(INSTALLED) ## Run the benchmarks
	$(BIN)/python -m benchmarks

mutants: $(INSTALLED) ## Check that the laws catch deliberate faults
	$(BIN)/python -m mutants

clean: ## Remove .venv and all that the tools leave behind
	rm -rf $(VENV) build dist .hypothesis .pytest_cache .mypy_cache .ruff_cache .jax_cache
	find . -name __pycache__ -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test,lint]"
	@touch $@
