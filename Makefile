# The face of every command. `make help` lists them.
.DEFAULT_GOAL := help
.PHONY: help install run test test-all bench clean

PYTHON ?= python3
PORT ?= 8000
STATE ?= var

help:  ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

install:
	@command -v $(PYTHON) >/dev/null || { echo "prefill: no $(PYTHON) here. Install Python 3.11 or newer (Debian: apt-get install python3 python3-venv)."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "prefill: $(PYTHON) is older than 3.11. Name a newer one: make run PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -I web/operate/install.py

run: install  ## install what is missing, start everything, print the page to open (PORT=8000 STATE=var)
	@exec .venv/bin/prefilld run --port $(PORT) --state $(STATE)

test:  ## install what the tests need, then lint, types, imports and tests
	@tests/setup/test.sh

test-all:  ## the same with the long ones
	@PREFILL_ALL=1 tests/setup/test.sh

bench: install  ## the judge's overhead, as ratios against plain pytest
	@exec .venv/bin/python -m tests.bench

clean:  ## remove what was installed and built; var/ (your submissions) stays
	rm -rf .venv web/frontend/node_modules web/static/build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
