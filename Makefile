# Two commands: `make demo` opens the demo, `make test` runs every test. Both set up everything they need first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Each file of tests runs on one worker, which loads its pair and its recordings once. Three workers for two cores: one of
# them waits for pages while the others compute.
WORKERS ?= 3
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder
PIP := $(BIN)/pip install --disable-pip-version-check -c constraints.txt
# What python and pytest compile is left for the next worker, process and call.
unexport PYTHONDONTWRITEBYTECODE
FAILED = echo "pip could not install the packages. Behind a proxy: make HTTPS_PROXY=http://HOST:PORT ..., or name an index with \
PIP_INDEX_URL; without a compiler: use Python 3.11 to 3.13, for which all packages come built."; exit 1

# As root or with sudo, on Debian and Ubuntu.
define apt
{ apt-get update -qq && apt-get install -y -qq $(1); } || sudo sh -c 'apt-get update -qq && apt-get install -y -qq $(1)'
endef

.PHONY: demo test pytest fast nightly nightly-tests mutants wording lint web renew screenshots browser gpu lowest container space house clean

# The page opens with the embedded pair where SmolLM2 cannot be had; a sentence says why.
demo: $(VENV)/.installed
	@$(BIN)/python -m specviz prepare --target smollm2 || echo "The page opens with the embedded pair instead."
	@$(BIN)/python app/app.py

test: $(VENV)/.installed-dev browser
	@$(MAKE) --no-print-directory -j2 pytest lint

pytest: $(VENV)/.installed-dev
	$(PYTEST)

fast: $(VENV)/.installed-dev  ## without the browser, the adapters and what is slow
	$(PYTEST) -m "not browser and not adapter and not slow"

nightly: $(VENV)/.installed-dev browser  ## the cells that `make test` leaves out, and the slow checks
	$(MAKE) -k nightly-tests mutants lowest container space

nightly-tests: $(VENV)/.installed-dev
	$(PYTEST) -m nightly

mutants: $(VENV)/.installed-dev  ## breaks the code in some forty places, each of which a test must notice
	$(BIN)/python tests/mutants.py

wording: $(VENV)/.installed-dev  ## renews the sentences of errors that tests compare
	$(BIN)/python -m tests.wording

lint: $(VENV)/.installed-dev web
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The browser's code is checked and tested with node; nothing is built, so the demo needs none. A machine of one's own may
# have no node, where CI (which sets CI) fails.
web:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory node_modules/.installed && npm run --silent lint && npm run --silent test; \
		else echo "There is no node here, so the browser's code was not checked; that needs node 20 or newer. All other tests run."; test -z "$$CI"; fi

node_modules/.installed: package.json package-lock.json
	npm ci --no-audit --no-fund --silent
	touch $@

$(VENV)/.created:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "specviz needs Python 3.11 or newer: make PYTHON=python3.12 demo"; exit 1; }
	$(PYTHON) -m venv $(VENV) || { $(call apt,python3-venv) && $(PYTHON) -m venv --clear $(VENV); } || \
		{ echo "Python has no venv here: apt-get install python3-venv, or make PYTHON=/path/to/another/python3 demo"; exit 1; }
	touch $@

$(VENV)/.installed: $(VENV)/.created requirements.txt constraints.txt  # the package as well, from this folder
	$(PIP) -e . || { $(FAILED); }
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed requirements-dev.txt
	$(PIP) -r requirements-dev.txt || { $(FAILED); }
	touch $@

# The browser tests drive an installed Chromium or Chrome, and a few an installed Firefox; on Debian the system's packages
# are installed if there are none. Without Chromium they fail, without Firefox its own are skipped.
browser:
	@command -v google-chrome >/dev/null || chromium --version >/dev/null 2>&1 || chromium-browser --version >/dev/null 2>&1 || \
		{ $(call apt,chromium); } && { command -v google-chrome >/dev/null || chromium --version >/dev/null 2>&1; } || \
		{ echo "There is no Chromium here (on Ubuntu the package is only a door to a snap): install google-chrome-stable."; exit 1; }
	@command -v firefox-esr >/dev/null || command -v firefox >/dev/null || $(call apt,firefox-esr) \
		|| echo "There is no Firefox here and no package firefox-esr to install, so the tests in Firefox are skipped."

# All that is measured with the embedded pair, for a new one in assets/pair. A finished step leaves a stamp that is newer
# than the weights, so the same command goes on where it was interrupted, or where a timed step found the machine busy.
STAMPS := .renew
WEIGHTS := $(wildcard assets/pair/*/*.safetensors)
VECTORS := $(addprefix $(STAMPS)/vectors-,model eagle early-exit layer-skip medusa ngram retrieval)
TRACES := $(addprefix $(STAMPS)/traces-,explore race lessons)
HEATS = $(if $(filter model,$*),0 0.3 0.6 0.8 1,0 0.8 1)
SMALLER = $(addprefix --temperature ,$(HEATS)) $(if $(filter model,$*),,--positions 1000 --width 16)
IDLE := $(BIN)/python -m specviz.measure.quiet $(BIN)/python

renew: $(VENV)/.installed-dev $(STAMPS)/vectors-smollm2 $(STAMPS)/drafters $(STAMPS)/papers-timed $(STAMPS)/screenshots  ## hours, on an idle machine

$(VECTORS): $(STAMPS)/vectors-%: $(WEIGHTS)
	@mkdir -p $(STAMPS)
	$(BIN)/python -m specviz calibrate --drafter $* $(SMALLER) --no-costs --out assets/acceptance/embedded/$*.json
	@touch $@

$(STAMPS)/vectors-smollm2: assets/smollm2/model.safetensors  # the chat model with its head, on questions
	@mkdir -p $(STAMPS) assets/acceptance/smollm2
	$(BIN)/python -m specviz calibrate --target smollm2 --drafter eagle $(addprefix --temperature ,0 0.3 0.6 0.8 1) --positions 2000 --width 16 --no-costs --out assets/acceptance/smollm2/eagle.json
	$(BIN)/python -m specviz calibrate --target smollm2 --drafter quantized $(addprefix --temperature ,0 0.6 0.8 1) --positions 250 --width 16 --no-costs --out assets/acceptance/smollm2/quantized.json
	@touch $@

$(TRACES): $(STAMPS)/traces-%: $(VECTORS) $(STAMPS)/vectors-smollm2
	$(IDLE) -m app.tabs.record $*
	@touch $@

$(STAMPS)/curves: $(STAMPS)/vectors-smollm2
	$(IDLE) -m app.tabs.record curves
	@touch $@

$(STAMPS)/traces-lessons: $(STAMPS)/curves  # a lesson shows what a step costs here

$(STAMPS)/papers: $(VECTORS)
	$(BIN)/python -m specviz papers --measure
	@touch $@

$(STAMPS)/papers-timed: $(STAMPS)/papers
	$(BIN)/python -m specviz papers --measure --timed
	@touch $@

$(STAMPS)/drafters: $(VECTORS)
	$(IDLE) -m tests.drafter_table $@.jsonl
	@touch $@

$(STAMPS)/screenshots: $(TRACES) $(STAMPS)/curves
	$(MAKE) --no-print-directory screenshots
	@touch $@

screenshots: $(VENV)/.installed-dev browser  ## the pictures of the README, from the running demo
	$(BIN)/python -m tests.screenshots

gpu: $(VENV)/.installed-dev  ## the report of this machine's GPU: whether it computes what the CPU computes, and how fast
	$(BIN)/python -m tests.gpu_report --out .gpu-report

# Three checks that `make test` leaves out. The first fetches 4 GB or more, since an old torch comes with CUDA on Linux.
lowest:  ## the fast tests with the lowest versions that requirements.txt allows
	$(PYTHON) -m venv .venv-lowest
	sed 's/>=\([^,]*\).*/==\1/' requirements.txt > .venv-lowest/constraints.txt
	.venv-lowest/bin/pip install --disable-pip-version-check -c .venv-lowest/constraints.txt -r requirements-dev.txt
	.venv-lowest/bin/python -m pytest -n $(WORKERS) --dist loadfile -m "not browser and not adapter and not slow"

container:  ## the image as another user, read-only, where docker, podman or buildah is
	bash tests/container.sh

space:  ## the push to a Space, tried on a bare repository with the Hub's rules; needs git-lfs
	bash tests/space.sh

house: $(VENV)/.installed-dev  ## the size and shape of every room, in tokens of code
	@$(BIN)/python -m tests.house

clean:
	rm -rf $(VENV) .venv-lowest node_modules .pytest_cache .ruff_cache .mypy_cache .hypothesis
