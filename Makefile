# feedctl: `make help` lists what there is. Every target sets up what it needs; a second run of the set-up costs nothing.
.DEFAULT_GOAL := help
.PHONY: help install demo demo-triggers demo-ingest demo-monitoring demo-lineage demo-exchange demo-mirror test test-all test-extended lint soak bench testbed docs site site-serve site-check page-check docs-tools dist lock spark35 clean java
SHELL := /bin/sh
export PYTHON
# Where it is set, each process that a test starts, and each worker of pytest, compiles everything anew.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
# Spark's launcher starts the python3 on PATH, and asks the resolver for the machine's name unless it is told an address.
WITH_JAVA = JAVA_HOME="$$(.ci/java-home)" && export JAVA_HOME PATH="$(CURDIR)/$(BIN):$$PATH" SPARK_LOCAL_IP=127.0.0.1 &&
# Whole files to each worker, since the tests of one share servers; in the order of tests/conftest.py, long ones first.
# Two workers more than CI has cores: servers that start, close files or fall silent on purpose are waited for, and with
# three workers the cores were idle for a third of the time.
PYTEST = $(BIN)/pytest -n 4 --dist loadfile --no-loadscope-reorder
# Made while pytest collects: tests/testbed/quick_spark.py.
QUICK_SPARK = { .ci/spark-archive .venv & }
# Property tests with twice the examples of `make test` and `make test-extended`; `make soak` has four times as many.
THOROUGH = --hypothesis-profile thorough
ARGS ?=

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /    make \1\t/p' Makefile | expand -t 24

install: ## make .venv from the lock, with the project editable
	@.ci/install .venv requirements/dev.lock with-project

demo: java install ## the main jobs on local files: evict a month of data by plan, replicate a day, kill and verify, run a process and find late data
	@$(WITH_JAVA) .ci/demo

demo-triggers: java install ## data-driven triggers on local files: updates, a skipped producer, polling, a retraction, an expiry (3 minutes)
	@$(WITH_JAVA) .ci/demo-triggers

demo-ingest: java install ## streaming ingest on local files: kills, Spark counting meanwhile, compaction, an hour that closes and starts a process (2 minutes)
	@$(WITH_JAVA) .ci/demo-ingest

demo-monitoring: java install ## monitoring on local files: an hourly feed stops, is late and missed, a mail, a webhook and a STOMP message come, the data comes (1 minute)
	@$(WITH_JAVA) .ci/demo-monitoring

demo-lineage: java install ## lineage on local files: a bad hour, what was made from it, the backfills, columns, an event of OpenLineage, the page (3 minutes)
	@$(WITH_JAVA) .ci/demo-lineage

demo-exchange: java install ## imports and exports of a database: full, incremental and merged while a writer works, a killed export, a wrong password (4 minutes)
	@$(WITH_JAVA) .ci/demo-exchange

demo-mirror: java install ## a directory of HDFS mirrored by snapshots between two clusters of the test bed: renames, a dry run, a killed run, verify (3 minutes)
	@$(WITH_JAVA) PYTHONPATH=. $(BIN)/python .ci/demo_mirror.py

test: java install ## unit tests, contracts on real servers, one run for each promise; ARGS="-k eviction" passes options to pytest
	@$(WITH_JAVA) $(QUICK_SPARK) && $(PYTEST) -m "not extended and not soak" $(ARGS)

test-extended: java install spark35 ## the rest of test-all: options, kills and faults, PostgreSQL, packaging, Spark 3.5
	@$(WITH_JAVA) $(QUICK_SPARK) && $(PYTEST) -m "extended and not soak" $(ARGS)

test-all: java install spark35 ## all tests but the soak tests
	@$(WITH_JAVA) $(QUICK_SPARK) && $(PYTEST) $(THOROUGH) -m "not soak" $(ARGS)

lint: install ## ruff, mypy, the layers, size and shape, no registry hosts, sentences, spelling
	@$(BIN)/ruff check --quiet --output-format concise .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/mypy --no-error-summary
	@PYTHONPATH=. .ci/quiet $(BIN)/lint-imports
	@.ci/structure $(BIN)/python
	@.ci/no-registry-hosts
	@$(BIN)/python .ci/prose.py
	@$(BIN)/codespell docs README.md CONTRIBUTING.md CHANGELOG.md toolkit entrypoints config_repo_template config_repo_minimal
	@echo "lint: no findings"

soak: java install ## long loops, fuzzers, and property tests with all their examples; FEEDCTL_SEED=N repeats a run
	@$(WITH_JAVA) $(BIN)/pytest --hypothesis-profile whole -m "soak or hypothesis" --timeout 0 -s $(ARGS)

bench: java install ## every benchmarks/bench_*.py (hours), and a table of goals: met, missed as known, missed; ARGS="bench_lint" runs one, ARGS=--continue goes on, ARGS=--small tries each in minutes
	@$(WITH_JAVA) $(BIN)/python -m benchmarks.suite $(ARGS)

testbed: java install ## two HDFS clusters and metastores, S3, what stands in for Google and Azure, and Spark standalone, running until Ctrl-C; says what is where
	@$(WITH_JAVA) $(BIN)/python -m tests.testbed

docs: install ## docs/reference and docs/pictures: write them anew from the code
	@$(BIN)/python .ci/reference.py
	@$(BIN)/python .ci/pictures.py

site: docs-tools ## build/site: docs/ as a site with search, to be opened from the disk or served
	@.venv-docs/bin/python .ci/site/build.py "$$(.ci/site/node-modules)"

site-serve: site ## build the site and serve it on http://127.0.0.1:8000 until Ctrl-C
	@.venv-docs/bin/python -m http.server --directory build/site --bind 127.0.0.1 8000

site-check: site ## links and anchors of the site, five pages in Chromium (errors, requests, width, axe-core; build/site-screenshots), the Containerfile
	@.venv-docs/bin/hadolint docs/how-to/Containerfile
	@.venv-docs/bin/python .ci/site/links.py build/site
	@"$$(.ci/toolchain node)" .ci/site/check.mjs "$$(.ci/site/node-modules)" build/site build/site-screenshots "$$(command -v chromium)"

page-check: install ## the pages of `feedctl page` in Chromium: as site-check, and search, graph by mouse and keyboard, no script (build/page-screenshots)
	@PYTHONPATH=. $(BIN)/python .ci/pages.py build/page-check
	@"$$(.ci/toolchain node)" .ci/site/pages.mjs "$$(.ci/site/node-modules)" build/page-check/pages build/page-screenshots "$$(command -v chromium)"

dist: install ## build/dist: the wheel, the zip for spark-submit --py-files, the packed environment for --archives
	@rm -rf build/dist
	@.ci/quiet $(BIN)/python -m build --wheel --no-isolation --outdir build/dist .
	@$(BIN)/python .ci/pyfiles.py build/dist
	@$(BIN)/python .ci/packed_env.py build/dist
	@ls build/dist/*

lock: ## write the locks in requirements/ anew (needs uv)
	@.ci/lock

spark35: ## .venv-spark35: the oldest Spark that feedctl supports, for its smoke test
	@PYTHON="python3.11 $${PYTHON:-python3.12 python3.13 python3}" .ci/install .venv-spark35 requirements/spark35.lock

docs-tools:
	@.ci/install .venv-docs requirements/docs.lock

clean: ## remove what these targets made
	@rm -rf .venv .venv-spark35 .venv-docs build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

java:
	@.ci/java-home >/dev/null
