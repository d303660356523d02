# Two commands: `make app` opens the app, `make test` runs every test. Both set up what they need in .venv first.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PORT   ?= 8501
PYTEST ?=

.PHONY: app test bench setup clean

app: $(VENV)/.app
	$(BIN)/streamlit run app.py --server.port $(PORT)

setup: $(VENV)/.app

test: $(VENV)/.test
	$(BIN)/python tests/browser/find_chromium.py --install
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests $(PYTEST)

bench: $(VENV)/.test
	$(BIN)/python tests/browser/find_chromium.py --install
	$(BIN)/python -m benchmarks

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "DDCL Lab needs Python 3.11 or newer; name one with: make app PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: requirements.txt | $(BIN)/python
	$(BIN)/python -m pip install --disable-pip-version-check -q -r requirements.txt
	@touch $@

$(VENV)/.test: tests/requirements.txt $(VENV)/.app
	$(BIN)/python -m pip install --disable-pip-version-check -q -r tests/requirements.txt
	@touch $@

clean:
	rm -rf $(VENV)
