# One command sets up and runs the service here:  make dev
# One command sets up and runs the tests:         make test
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# An interpreter that was built with optimizations, if there is one: those of systems are, and those of pyenv are not unless
# one asks for it. Tests take 16 to 20 % less processor time with it.
SUFFICES := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))
OPTIMIZED := import sys, sysconfig; sys.exit(sys.base_prefix != "/usr" and "--enable-optimizations" not in sysconfig.get_config_var("CONFIG_ARGS"))
PYTHON ?= $(shell for optimized in '$(OPTIMIZED)' ''; do for p in $$(type -ap python3.13 python3.12 python3.11 python3); do \
	$$p -c '$(SUFFICES)' 2>/dev/null && $$p -c "$$optimized" && echo $$p && exit; done; done)
VENV := .venv
SAM_VENV := .venv-sam
CHECKOV_VENV := .venv-checkov
DOCS_VENV := .venv-docs
PY := $(VENV)/bin/python
# What the functions run on; the template's parameters PythonRuntime and Architecture.
export RUNTIME ?= python3.13
export ARCHITECTURE ?= x86_64
export SAM_CLI_TELEMETRY := 0
# Otherwise every process compiles all modules again: each worker of the tests, each start of the service.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPATH := $(CURDIR)/shared:$(CURDIR)/engine:$(CURDIR)/functions:$(CURDIR)/local:$(CURDIR)/cli
export HEADGATE_CACHE ?= $(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/headgate
# Tests have collectors of their own, among them a reduced one that nobody is to run, unless the environment names a folder.
TEST_COLLECTORS := $(or $(HEADGATE_COLLECTORS_DIR),$(HEADGATE_CACHE)/collectors-for-tests)
export HEADGATE_COLLECTORS_DIR ?= $(HEADGATE_CACHE)/collectors
collectors test go-test python-test trust bench sbom docs: export HEADGATE_COLLECTORS_DIR := $(TEST_COLLECTORS)

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

PIP_INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check
INSTALL_US := $(PIP_INSTALL) --no-index --no-deps --no-build-isolation --editable .

$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo "Headgate needs Python 3.11 or newer: install it, or name it with PYTHON=/path/to/python3.11" >&2; exit 1; }
	@echo "Setting up the Python environment in $(VENV) ..."
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.ready: requirements/dev.txt pyproject.toml | $(VENV)/.made
	@$(PIP_INSTALL) --require-hashes --no-deps -r requirements/dev.txt
	@$(INSTALL_US)
	@touch $@ $(VENV)/.runs

# What the service needs to run: a small part of what the tests need.
$(VENV)/.runs: requirements/run.txt pyproject.toml | $(VENV)/.made
	@$(PIP_INSTALL) --require-hashes --no-deps --no-compile -r requirements/run.txt
	@$(INSTALL_US)
	@touch $@

venv: $(VENV)/.ready

$(SAM_VENV)/.ready: requirements/sam.txt
	@echo "Setting up the SAM command line in $(SAM_VENV) ..."
	@test -x $(SAM_VENV)/bin/python || $(PYTHON) -m venv $(SAM_VENV)
	@$(SAM_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/sam.txt
	@touch $@

$(CHECKOV_VENV)/.ready: requirements/checkov.txt
	@echo "Setting up checkov in $(CHECKOV_VENV) ..."
	@test -x $(CHECKOV_VENV)/bin/python || $(PYTHON) -m venv $(CHECKOV_VENV)
	@$(CHECKOV_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/checkov.txt
	@touch $@

# Looked at again when there is something new to look at.
$(CHECKOV_VENV)/.passed: $(CHECKOV_VENV)/.ready template.yaml .checkov.yaml
	$(CHECKOV_VENV)/bin/checkov --config-file .checkov.yaml
	@touch $@

$(DOCS_VENV)/.ready: requirements/docs.txt
	@echo "Setting up mkdocs in $(DOCS_VENV) ..."
	@test -x $(DOCS_VENV)/bin/python || $(PYTHON) -m venv $(DOCS_VENV)
	@$(DOCS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/docs.txt
	@touch $@

collector: ## Build the collector, or add a whole VERSION=X.Y.Z beside it (MANIFEST=FILE; REDUCED=1 for what the proxy serves), or that of SYSTEM=windows or darwin
	@$(MAKE) --no-print-directory -C layers/collector collector VERSION=$(VERSION) REDUCED=$(REDUCED) SYSTEM=$(SYSTEM) \
		ARCHITECTURE=$(if $(filter command line,$(origin ARCHITECTURE)),$(ARCHITECTURE)) \
		MANIFEST="$(if $(MANIFEST),$(abspath $(MANIFEST)))"

collector-upgrade: venv supervisor $(SAM_VENV)/.ready ## Try VERSION=X.Y.Z as the default collector, and make it that if all passes
	@test -n "$(VERSION)" || { echo "VERSION=X.Y.Z is needed: the version to raise the default collector to" >&2; exit 1; }
	@scripts/ensure_helm >/dev/null
	@exec $(PY) -m scripts.collector_upgrade $(if $(REGENERATE),--regenerate) "$(VERSION)"

supervisor: venv ## Build the fleets' supervisor, or that of another machine: ARCHITECTURE=arm64 SYSTEM=windows or darwin
	@$(MAKE) --no-print-directory -C layers/supervisor supervisor SYSTEM=$(SYSTEM) \
		ARCHITECTURE=$(if $(filter command line,$(origin ARCHITECTURE)),$(ARCHITECTURE))

msi: venv ## Write build/headgate-supervisor-windows-amd64.msi, or MSI=FILE, with wixl: docs/windows-macos.md says what it is for
	@mkdir -p build
	@$(MAKE) --no-print-directory -C layers/supervisor msi MSI=$(abspath $(or $(MSI),build/headgate-supervisor-windows-amd64.msi))

publish-install: venv ## Put what fleets install into a stack's bucket: BUCKET=NAME, ARCH="amd64 arm64" for both, COLLECTORS="0.158.0" PLATFORMS="windows macos" for more
	@test -n "$(BUCKET)" || { echo "BUCKET=NAME is needed: the stack's bucket" >&2; exit 1; }
	@$(PY) -m scripts.publish_release --bucket "$(BUCKET)" $(ARCH:%=--arch %) $(COLLECTORS:%=--collector %) $(PLATFORMS:%=--platform %)

image: venv ## Build the image of supervisor and collector with docker, as IMAGE
	@$(MAKE) --no-print-directory -C layers/supervisor image IMAGE=$(or $(IMAGE),headgate-supervisor:latest) \
		ARCHITECTURE=$(if $(filter command line,$(origin ARCHITECTURE)),$(ARCHITECTURE))

CONSOLE := functions/web/assets/manifest.json
$(CONSOLE): console/build.mjs console/package-lock.json console/tsconfig.json $(shell find console/src -type f) | $(VENV)/.made
	@echo "Building the console ..."
	@scripts/console build

console-built: $(CONSOLE)

console: venv $(CONSOLE) ## Build the pages' scripts, with Node 20 or newer if there is one

# Where a collector wheel of this build may be: folders or pages with wheels, or a package index. Without both, dist/.
FIND_LINKS ?=
COLLECTOR_INDEX ?=
export HEADGATE_FIND_LINKS := $(FIND_LINKS)
export HEADGATE_COLLECTOR_INDEX := $(COLLECTOR_INDEX)
AT_HAND = PYTHONPATH=layers/collector:layers/supervisor $(PY) -m supervisor_build at-hand

# Without any collector, the service builds one behind itself. One of older sources is built again first.
dev: ## Run the whole service on this machine, with FIND_LINKS=FOLDER on a collector wheel of this build
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/.runs console-built
	@if $(AT_HAND); then :; elif [ $$? != 3 ]; then exit 1; \
	elif [ -x "$(HEADGATE_COLLECTORS_DIR)/$$(cat layers/collector/versions/DEFAULT)/otelcol-contrib" ]; then \
		$(MAKE) --no-print-directory -C layers/collector collector && $(MAKE) --no-print-directory -C layers/supervisor supervisor; fi
	@HEADGATE_BUILD="$(CURDIR)/layers" exec $(PY) -m headgate_local

build: venv console $(SAM_VENV)/.ready ## Build what is deployed, with SAM
	@$(SAM_VENV)/bin/sam build --build-in-source --parameter-overrides PythonRuntime=$(RUNTIME) Architecture=$(ARCHITECTURE)

# Many tests wait, so five workers for two processors take less time than four or six. A module stays on one worker, with its
# fixtures.
WORKERS ?= $(shell echo $$(($$(getconf _NPROCESSORS_ONLN) * 5 / 2)))
PYTEST := $(PY) -m pytest --numprocesses $(WORKERS) --dist loadfile --no-loadscope-reorder --durations 25 -m "not full"
# The modules that take longest come first, so that no worker is left with one at the end.
SUITES ?= end_to_end contract trust api unit
RECORDED_CALLS := $(CURDIR)/build/recorded_calls

collectors: venv ## Build the collectors that tests need: the default one, its first program, and a reduced one
	@$(MAKE) --no-print-directory -C layers/collector default-collectors fixture

# Each part says how long it took, and all do so at the end.
PART := scripts/part
test: ## Set up and run every test, or with SUITES="unit api" those of tests/
	@$(PART) --begin
	@$(PART) "set-up of Python and SAM" $(MAKE) --no-print-directory venv $(SAM_VENV)/.ready
	@$(PART) "console, with its tests" $(MAKE) --no-print-directory --jobs 2 test-console $(VENV)/.compiled
	@$(PART) "default collector" $(MAKE) --no-print-directory -C layers/collector default-collectors
	@$(PART) "supervisor" $(MAKE) --no-print-directory supervisor
	@$(PART) "helm, actionlint, Chromium, systemd" $(MAKE) --no-print-directory test-programs
	@status=0; $(MAKE) --no-print-directory --jobs 2 go-test python-test || status=$$?; $(PART) --end; exit $$status

test-console: venv console
	@scripts/console test

# In a fresh clone each worker would compile every module, all of them the same one at a time. What cannot be collected
# fails in the tests.
$(VENV)/.compiled: $(VENV)/.ready
	@$(PY) -m pytest --collect-only -qq -p no:cacheprovider tests >/dev/null 2>&1 || true
	@touch $@

test-programs:
	@scripts/ensure_helm >/dev/null
	@scripts/ensure_actionlint >/dev/null
	@scripts/ensure_chromium $(PY)
	@scripts/ensure_systemd_root >/dev/null || echo "Tests that boot a machine are skipped" >&2

# The reduced collector is built beside the tests that do not need it (tests/support/second_version.py).
go-test:
	@$(PART) "reduced collector" $(MAKE) --no-print-directory -C layers/collector fixture
	@$(PART) "Go tests of the collector" $(MAKE) --no-print-directory -C layers/collector go-test
	@$(PART) "Go tests of the supervisor" $(MAKE) --no-print-directory -C layers/supervisor go-test

# What the functions called of AWS in all end-to-end tests is looked at when all of them have run.
POLICIES := tests/end_to_end/test_policies.py
# So that a second version that is missing fails its tests, which skip it where nobody has built one.
SECOND_COLLECTOR = $$($(MAKE) --no-print-directory -s -C layers/collector second)
# What tests start makes thousands of small folders, a tenth of its time on a disk: in memory, where there is enough and
# programs may run. The folders that pytest gives to tests stay where they are. The folder's size says nothing of what is
# free: a container may have a large one and little memory.
FREE := $(shell awk '/^MemAvailable:/ && $$2 > 6000000 {print $$2}' /proc/meminfo 2>/dev/null)
MEMORY := $(if $(FREE),$(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 6000000 {print $$6}'))
SCRATCH := $(if $(shell grep ' /dev/shm .*noexec' /proc/mounts 2>/dev/null),/tmp,$(or $(MEMORY),/tmp))
python-test:
	@rm -rf "$(RECORDED_CALLS)"
	@scratch=$$(mktemp -d $(SCRATCH)/headgate-tests-XXXXXX); trap 'rm -rf "$$scratch"' EXIT; chmod 1777 "$$scratch"; \
		PYTEST_DEBUG_TEMPROOT="$${TMPDIR:-/tmp}" TMPDIR="$$scratch" \
		HEADGATE_SECOND_COLLECTOR="$(SECOND_COLLECTOR)" RECORDED_CALLS="$(RECORDED_CALLS)" \
		$(PART) "Python tests" $(PYTEST) $(SUITES:%=tests/%) --ignore $(POLICIES)
	@if [ -n "$(findstring end_to_end,$(SUITES))" ]; then RECORDED_CALLS="$(RECORDED_CALLS)" $(PY) -m pytest $(POLICIES); fi

lint: venv $(CHECKOV_VENV)/.passed ## Check style, types, layers and the template
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint-types lint-template lint-style lint-api lint-go

lint-style:
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/lint-imports
	$(VENV)/bin/hadolint layers/collector/Dockerfile

lint-types:
	$(VENV)/bin/mypy shared/headgate engine/headgate_engine cli/headgate_cli functions local/headgate_local

# These take seconds, so they look again only if there is something new to look at, as checkov does.
LOOKED_AT := build/looked_at
lint-template: $(LOOKED_AT)/template
lint-api: $(LOOKED_AT)/api
lint-go: $(LOOKED_AT)/go

$(LOOKED_AT)/template: template.yaml requirements/dev.txt
	$(VENV)/bin/cfn-lint template.yaml
	@mkdir -p $(@D) && touch $@

$(LOOKED_AT)/api: functions/identity/openapi.json .spectral.yaml tests/clients/package.json tests/clients/package-lock.json
	scripts/npm_script tests/clients lint
	@mkdir -p $(@D) && touch $@

# With their folders, which tell of a file that was removed.
GO_FILES := $(shell find layers -type f ! -name '*.py' ! -path '*/__pycache__/*')
$(LOOKED_AT)/go: $(GO_FILES) $(sort $(dir $(GO_FILES)))
	$(MAKE) --no-print-directory -C layers/collector go-vet gofmt-check
	$(MAKE) --no-print-directory -C layers/supervisor go-vet gofmt-check
	@mkdir -p $(@D) && touch $@

# tests/support/sizes.py has the sizes of both.
trust: venv console collectors supervisor docs $(SAM_VENV)/.ready ## Run in full what `make test` runs in small sizes: about two hours
	@HEADGATE_FULL=1 $(PY) -m pytest --timeout 3600 -m "sized or full" tests
	@$(PY) -m pytest tests/trust/test_supply_chain.py tests/api/test_isolation.py
	@$(PY) -c 'import atheris' 2>/dev/null || { echo "atheris has no wheel for this platform" >&2; exit 1; }
	@$(PY) -m tests.benchmarks
	@$(PY) -m tests.trust.coverage_guided 360
	@$(MAKE) --no-print-directory -C layers/collector schema-oracle go-fuzz

docs: venv console collector $(SAM_VENV)/.ready $(DOCS_VENV)/.ready ## Build the site of the documents into build/site, which a browser opens without a server
	@$(PY) -m scripts.site
	@NO_MKDOCS_2_WARNING=1 $(DOCS_VENV)/bin/mkdocs build --quiet
	@echo "The site is in build/site: open build/site/index.html"

sbom: venv console collectors $(SAM_VENV)/.ready ## Write build/sbom.json, a CycloneDX document
	@$(PY) -m scripts.third_party build/sbom.json

# The programs of the other architecture, too: ARCH="amd64 arm64". The first time, 15 minutes more. ONLY=wheels makes a part.
release: venv console $(SAM_VENV)/.ready ## Make a release in dist/: wheels, images and the rest that docs/releasing.md lists
	@$(PY) -m scripts.releasing $(ARCH:%=--architecture %) $(ONLY:%=--only %) $(if $(INTO),--into "$(INTO)")

audit: venv collector ## Ask the vulnerability databases of Python and Go about what we use (needs the internet)
	@test -x $(HEADGATE_CACHE)/audit/bin/pip-audit || { $(PYTHON) -m venv $(HEADGATE_CACHE)/audit && \
		$(HEADGATE_CACHE)/audit/bin/pip install --quiet pip-audit; }
	@$(HEADGATE_CACHE)/audit/bin/pip-audit --disable-pip --require-hashes -r requirements/lambda.txt
	@$(MAKE) --no-print-directory -C layers/collector go-audit

bench: venv console collectors supervisor ## Print the benchmarks, each against its baseline
	@$(PY) -m tests.benchmarks

screenshots: venv console collector ## Make the pictures of the console in docs/screenshots
	@scripts/ensure_chromium $(PY)
	@$(PY) -m tests.screenshots

# STAGE is one of samconfig.toml's; PARAMETERS are the template's: "AlarmEmail=ops@example.com LogRetentionDays=30".
STAGE ?= prod
PARAMETERS ?=
SAM := $(CURDIR)/$(SAM_VENV)/bin/sam

deploy: venv console $(SAM_VENV)/.ready ## Deploy to AWS; asks what it has to know (STAGE=, PARAMETERS=, YES=1, RELEASES=no)
	@$(PY) -m scripts.deploy --stage "$(STAGE)" --parameters "$(PARAMETERS)" --sam "$(SAM)" \
		$(if $(YES),--yes) $(if $(filter no,$(RELEASES)),--no-releases) $(if $(BUILD_DIR),--build-dir "$(BUILD_DIR)")

# What it needs and shows: docs/acceptance.md.
accept: export HEADGATE_URL = $(URL)
accept: export SERVICE_API_TOKEN = $(TOKEN)
accept: export HEADGATE_READ_TOKEN = $(READ_TOKEN)
accept: venv ## Check a running server: URL=, TOKEN= (READ_TOKEN=, REPORT=FOLDER, ONLY=, HOST=1, ADMIN=1, STRICT=1)
	@test -n "$$HEADGATE_URL" -a -n "$$SERVICE_API_TOKEN" || { \
		echo "URL=https://... and TOKEN=sv_... are needed: the server, and a token with write access" >&2; exit 1; }
	@exec $(PY) -m headgate_cli.main accept \
		$(ONLY:%=--only %) $(if $(REPORT),--report "$(REPORT)") $(if $(HOST),--host) $(if $(ADMIN),--admin) $(if $(STRICT),--strict)

# AT is a time of the last 35 days, as 2026-11-26T09:00:00Z; TABLES="FleetsTable" and ONLY_MISSING=1 restore less.
restore: venv ## Bring a stack's tables back to a time, after asking (STAGE=, AT=, TABLES=, ONLY_MISSING=1)
	@$(PY) -m scripts.restore --stage "$(STAGE)" --at "$(AT)" $(TABLES:%=--table %) $(if $(ONLY_MISSING),--only-missing)

destroy: venv $(SAM_VENV)/.ready ## Remove from AWS, after asking (STAGE=)
	@$(PY) -m scripts.destroy --stage "$(STAGE)" --sam "$(SAM)"

logs: venv ## Show the logs of AWS (STAGE=, FUNCTION=)
	@$(PY) -m scripts.logs --stage "$(STAGE)" --function "$(FUNCTION)"

openapi: venv ## Write the API's description, and what else follows from the routes
	@$(PY) -m scripts.part_paths
	@$(PY) -m scripts.openapi
	@$(PY) -m scripts.accept_endpoints

protobuf: venv ## Write the OpAMP message classes (needs Go)
	@$(PY) -m scripts.protobuf

lock: ## Renew requirements/*.txt from requirements/*.in (needs uv)
	@for name in lambda local dev run sam checkov docs node; do \
		uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
			--no-emit-find-links $$( [ $$name != local ] && [ $$name != dev ] || echo -c requirements/lambda.txt ) \
			$$( [ $$name != run ] || echo -c requirements/dev.txt ) \
			requirements/$$name.in -o requirements/$$name.txt; done

.PHONY: help venv console console-built collector collectors collector-upgrade supervisor image publish-install dev build deploy accept restore destroy logs test test-console test-programs go-test python-test \
	lint lint-style lint-types lint-template lint-api lint-go trust docs sbom release audit bench screenshots openapi protobuf lock
