# What to do with discoverd. `make help` lists it.
SWIFT ?= swift
PREFIX ?= /usr/local
DESTDIR ?=
LAB = Tests/LabTests/lab
TOOLS = .build-tests
DISCOVERD = .build/debug/discoverd
# The tests that touch no C library's threads but our own, for ThreadSanitizer.
TSAN_TESTS ?= DNSSDTests|DiscoveryTests|AvahiEngineTests
RELEASE = .build-release
BENCHED = $(RELEASE)/release/discoverd
SHELL = /bin/bash

.DEFAULT_GOAL := help
.PHONY: help bench bench-quick run build test tests-built lab demo fmt check docs tsan install uninstall clean deps

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | expand -t 12

run: build ## install what is missing, build, and list every service on the network
	$(DISCOVERD) browse --all

build: deps ## debug build
	$(SWIFT) build

deps:
	@.ci/deps run

tests-built:
	@.ci/deps test
	$(MAKE) --no-print-directory $(TOOLS)/publish-many
	$(SWIFT) build --build-tests

test: tests-built ## every test; the network is a lab of namespaces, never this machine's own
	$(SWIFT) test --skip-build

$(TOOLS)/publish-many: $(LAB)/publish-many.c
	@mkdir -p $(TOOLS)
	$(CC) -O1 -Wall -Wextra -Werror -o $@ $< -lavahi-client -lavahi-common

lab: build ## a shell on each of two hosts in the lab, with discoverd in PATH
	@.ci/deps test
	@$(LAB)/play shell

demo: build ## publish on one host, browse and resolve on another, withdraw
	@.ci/deps test
	@$(LAB)/play demo

fmt: ## format the sources in place
	$(SWIFT) format format --in-place --recursive --parallel Sources Tests Package.swift

check: ## formatting, shell scripts, forbidden constructs: what CI runs first
	$(SWIFT) format lint --strict --recursive --parallel Sources Tests Package.swift
	@.ci/check

docs: ## DocC of the library
	$(SWIFT) package --disable-sandbox generate-documentation --target Discovery

tsan: ## values, directory and engine under ThreadSanitizer
	$(SWIFT) test --sanitize=thread --scratch-path .build-tsan --filter '$(TSAN_TESTS)'

.PHONY: $(RELEASE)/release/discoverd
$(RELEASE)/release/discoverd:
	$(SWIFT) build -c release --static-swift-stdlib --product discoverd --scratch-path $(RELEASE)

bench: $(BENCHED) ## discoverd beside its peers, in the lab; writes docs/performance.md (BENCHED=another build)
	@.ci/deps test
	Benchmarks/run --discoverd $(BENCHED)

bench-quick: $(BENCHED) ## a few rows of it, on standard output
	@.ci/deps test
	Benchmarks/run --quick --discoverd $(BENCHED)

install: ## release build into $(DESTDIR)$(PREFIX), with completions and man pages
	$(SWIFT) build -c release --static-swift-stdlib --product discoverd --scratch-path $(RELEASE)
	install -D -s -m 755 $(RELEASE)/release/discoverd $(DESTDIR)$(PREFIX)/bin/discoverd
	install -d $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	install -d $(DESTDIR)$(PREFIX)/share/zsh/site-functions
	install -d $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(RELEASE)/release/discoverd --generate-completion-script bash \
	    >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/discoverd
	$(RELEASE)/release/discoverd --generate-completion-script zsh \
	    >$(DESTDIR)$(PREFIX)/share/zsh/site-functions/_discoverd
	$(RELEASE)/release/discoverd --generate-completion-script fish \
	    >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/discoverd.fish
	set -e; for page in $(wildcard docs/man/*.1); do \
	    install -D -m 644 "$$page" "$(DESTDIR)$(PREFIX)/share/man/man1/$$(basename "$$page")"; done

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/discoverd
	rm -f $(DESTDIR)$(PREFIX)/share/bash-completion/completions/discoverd
	rm -f $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_discoverd
	rm -f $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/discoverd.fish
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/man/man1/,$(notdir $(wildcard docs/man/*.1)))

clean: ## remove everything that was built
	rm -rf .build .build-bench .build-tests .build-tsan $(RELEASE)
