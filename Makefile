# What people type. meson and ninja do the work; tools/setup brings what is missing and is silent when nothing is.

DATA ?= data
LISTEN ?= 127.0.0.1:7070
FUZZ_SECONDS ?= 60
MUTANTS ?= 20
SEED ?= 1
PREFIX ?= /usr/local
OPTIONS ?=
INTO = $(DESTDIR)$(PREFIX)
.DEFAULT_GOAL := build

help: ## say what can be made
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

build: ## build the program: build/sojourn
	@tools/setup run
	@tools/tree build
	@ninja -C build sojourn

run: build ## start a server on LISTEN (127.0.0.1:7070) that keeps its data in DATA (./data), with further OPTIONS
	@build/sojourn serve --data $(DATA) --listen $(LISTEN) --owner-token-file $(DATA)/owner.token $(OPTIONS)

check: ## build with gcc and run what most changes break: unit and tidy tests, a part of the others; three minutes
	@tools/setup test
	@tests/run check

test: ## build everything, with sanitizers too, and run all tests (tests/run --help runs some)
	@tools/setup test
	@tests/run

bench: build ## measure: each number is a ratio to something measured in the same run
	@tools/setup bench
	@ninja -C build
	@bench/run all

fuzz: ## fuzz every codec for FUZZ_SECONDS (60) each
	@tools/setup test
	@tools/fuzz $(FUZZ_SECONDS)

mutants: build ## change MUTANTS (20) rules of domain, service and store, one at a time, and say which no test notices (SEED=1)
	@tools/setup test
	@ninja -C build
	@tools/mutants --count $(MUTANTS) --seed $(SEED)

format: ## format the sources
	@tools/setup test
	@git ls-files '*.c' '*.h' | xargs clang-format -i
	@npm --prefix web --silent run format

docs: build ## write the documents that are generated from tables
	@tools/docs

install: build ## install the program, manual, completions and a systemd unit under PREFIX (/usr/local)
	@ninja -C build --quiet sojourn.1 sojourn.bash _sojourn sojourn.fish
	@install -D build/sojourn $(INTO)/bin/sojourn
	@install -D -m 644 build/sojourn.1 $(INTO)/share/man/man1/sojourn.1
	@install -D -m 644 build/sojourn.bash $(INTO)/share/bash-completion/completions/sojourn
	@install -D -m 644 build/_sojourn $(INTO)/share/zsh/site-functions/_sojourn
	@install -D -m 644 build/sojourn.fish $(INTO)/share/fish/vendor_completions.d/sojourn.fish
	@mkdir -p $(INTO)/lib/systemd/system
	@sed 's|@PREFIX@|$(PREFIX)|' packaging/sojourn.service.in >$(INTO)/lib/systemd/system/sojourn.service
	@install -D -m 644 -t $(INTO)/share/doc/sojourn README.md LICENSE $(wildcard docs/*.md packaging/examples/*)
	@echo "installed $(PREFIX)/bin/sojourn"

deb: build ## make a Debian package: build/sojourn_VERSION_ARCH.deb
	@tools/setup deb
	@packaging/deb

clean: ## remove what was built
	rm -rf build build-*

.PHONY: help build run check test bench fuzz mutants format docs install deb clean
