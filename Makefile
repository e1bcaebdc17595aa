# What to do with discoverd. `make help` lists it.
SWIFT ?= swift
# SwiftPM passes the traits as defines in the order of a set: with hashing by chance, the next build builds everything again.
BUILD = SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build
# Everything in this repository is one build, with all traits (docs/decisions/0070-one-build.md); a bare `swift build` is what a package
# gets that depends on this one.
export DISCOVERD_WHOLE = 1
PREFIX ?= /usr/local
DESTDIR ?=
LAB = Tests/LabTests/lab
TOOLS = .build-tests
# Where the tests and the programs are that they start.
export BUILT ?= .build/debug
# Starts the built tests; nothing is planned or built again.
BUNDLE = $(BUILT)/discoverdPackageTests.xctest --testing-library swift-testing
DISCOVERD = $(BUILT)/discoverd
# What runs under a sanitizer: all that runs in the process of the tests. Tests work several times longer there: all at once they starve,
# and their time limits are over before their turn.
SANITIZED = values sockets daemon support
RELEASE = .build-release
# Without a path of its own the loader does not look for Debian's libraries beside the program. The runtime of C++, which Swift's own is
# written in, is in the program: to load it took every command a millisecond.
AS_RELEASED = -c release --static-swift-stdlib --disable-local-rpath -Xlinker -L$(STATIC) -Xswiftc -Xclang-linker -Xswiftc -static-libgcc
# Nothing but the archive of libstdc++, so that the linker finds no other.
STATIC = $(CURDIR)/$(RELEASE)/static
BENCHED = $(RELEASE)/release/discoverd
SHELL = /bin/bash

.DEFAULT_GOAL := help
.PHONY: help bench bench-quick bench-inside run build test test-all test-servers test-quick fuzz soak tests-built lab demo fmt check docs test-examples tsan asan release release-apps \
    install install-apps uninstall uninstall-apps deb deb-of-tests test-package test-systemd test-released test-upgrade clean deps

help: ## this list
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/\1 \2/p' $(MAKEFILE_LIST) | \
	    while read -r name text; do printf '%-15s %s\n' "$$name" "$$text"; done

run: ## build, and run the daemon in the foreground with an example service; missing Debian packages are asked for
	@.ci/deps run
	$(BUILD) --product discoverd
	$(BUILD) --product discoverd-daemon
	@DISCOVERD=$(DISCOVERD) Examples/Daemon/start

build: deps ## debug build of everything but the tests
	$(BUILD)

deps:
	@.ci/deps build

# Even where nothing has changed SwiftPM plans for a quarter of a minute: .ci/run sets IS_BUILT once it has built.
WHOLE = $(if $(IS_BUILT),,$(BUILD) --build-tests)
tests-built:
	@.ci/deps test
	$(MAKE) --no-print-directory $(TOOLS)/publish-many $(TOOLS)/clock-offset.so
	$(WHOLE)

test: tests-built ## what a change must pass; the network is a lab of namespaces, never this machine's own
	@Tests/run

test-all: tests-built ## every test, with what a change leaves out, and test-released: a release needs it
	@Tests/run all
	@if Tests/SystemdTests/run --possible; then $(MAKE) --no-print-directory test-released; else \
	    echo 'test-all: make test-released was NOT RUN' >&2; fi

test-servers: tests-built ## every rule of DNS zones, with BIND, Knot and PowerDNS
	@Tests/run servers

test-quick: tests-built ## the values, the daemon in one process, a few hosts: for the loop while writing
	@Tests/run values sockets support daemon quick

$(TOOLS)/publish-many: $(LAB)/publish-many.c
	@mkdir -p $(TOOLS)
	$(CC) -O1 -Wall -Wextra -Werror -o $@ $< -lavahi-client -lavahi-common

$(TOOLS)/clock-offset.so: $(LAB)/clock-offset.c
	@mkdir -p $(TOOLS)
	$(CC) -O1 -Wall -Wextra -Werror -shared -fPIC -o $@ $<

FUZZ_SECONDS ?= 180

# libFuzzer comes with Swift. The codec, what judges answers to updates, what publishes on a link, and DNS for `local`; what these import is
# built first, of MulticastEngine the desk's values alone.
FUZZ = $(TOOLS)/fuzz
FUZZER = $(SWIFT)c -O -sanitize=fuzzer -parse-as-library -swift-version 6 -enable-upcoming-feature InternalImportsByDefault \
    -package-name discoverd -I $(FUZZ)
FUZZED = DNSSD DNSMessage
FUZZED_message = $(addprefix Sources/Engines/UnicastEngine/Transport/,TSIG.swift TSIGKey.swift PendingUpdate.swift DNSExchange.swift)
FUZZED_responder = $(wildcard Sources/Engines/Responder/*.swift)
FUZZED_dns = $(addprefix Sources/Daemon/LocalNames/DNS/,DNSQuery.swift DNSAsker.swift)
FUZZED_desk = $(addprefix Sources/Engines/MulticastEngine/Desk/,RecordRequest.swift DeskTable.swift)
FUZZ_BYTES_message = 9000
FUZZ_BYTES_dns = 1500
FUZZ_BYTES_responder = 4096
$(FUZZED:%=$(FUZZ)/%.o) &: $(wildcard Sources/Core/DNS*/*.swift Sources/Core/DNS*/*/*.swift)
	@mkdir -p $(FUZZ)
	set -e; for module in $(FUZZED); do $(FUZZER) -wmo -module-name $$module -emit-object -o $(FUZZ)/$$module.o \
	    -emit-module -emit-module-path $(FUZZ)/$$module.swiftmodule $$(find Sources/Core/$$module -name '*.swift'); done
$(FUZZ)/MulticastEngine.o: $(FUZZED_desk) $(FUZZED:%=$(FUZZ)/%.o)
	$(FUZZER) -wmo -module-name MulticastEngine -emit-object -o $@ -emit-module -emit-module-path $(@:.o=.swiftmodule) $(FUZZED_desk)
$(TOOLS)/fuzz-dns: FUZZED_dns += $(FUZZ)/MulticastEngine.o
$(TOOLS)/fuzz-dns: $(FUZZED_dns) $(FUZZ)/MulticastEngine.o
$(TOOLS)/fuzz-%: $(wildcard Tests/Fuzz/*.swift Tests/Fuzz/*/*.swift) $(FUZZED_message) $(FUZZED_responder) $(FUZZED:%=$(FUZZ)/%.o)
	$(FUZZER) -wmo -module-name Fuzz_$* -o $@ Tests/Fuzz/*.swift Tests/Fuzz/$*/*.swift $(FUZZED_$*) $(FUZZED:%=$(FUZZ)/%.o)

# The values of labels need the daemon's modules, which are as the debug build has them.
FUZZED_labels = $(addprefix Sources/Daemon/Labels/,LabelBoard.swift LabelPace.swift LabelReading.swift Labelled.swift RuntimeEvents.swift UnitFiles.swift)
FUZZ_BYTES_labels = 4096
$(TOOLS)/fuzz-labels: $(wildcard Tests/Fuzz/*.swift Tests/Fuzz/labels/*.swift) $(FUZZED_labels) | build
	@mkdir -p $(FUZZ)
	grep -v /discoverd_daemon.build/ .build/debug/discoverd-daemon.product/Objects.LinkFileList >$(FUZZ)/labels.objects
	Tests/Fuzz/modules Labels >$(FUZZ)/labels.modules
	$(filter-out -package-name discoverd -I $(FUZZ),$(FUZZER)) -wmo -module-name Fuzz_labels -o $@ $^ \
	    @$(FUZZ)/labels.modules @$(FUZZ)/labels.objects -L .build/debug -lstdc++

.PHONY: fuzz-message fuzz-responder fuzz-dns fuzz-labels
fuzz-message: ## any bytes as a DNS message, 180 s
fuzz-responder: ## any packets for the values of our responder, 180 s
fuzz-dns: ## any queries of DNS for names below local, and any order at their desk, 180 s
fuzz-labels: ## anything that containers and units say of themselves, 180 s
fuzz-message fuzz-responder fuzz-dns fuzz-labels: fuzz-%: $(TOOLS)/fuzz-%
	Tests/Fuzz/seeds $* $(FUZZ)/$*/seeds
	@mkdir -p $(FUZZ)/$*/corpus
	SWIFT_BACKTRACE=enable=no SWIFT_DETERMINISTIC_HASHING=1 $< $(FUZZ)/$*/corpus $(FUZZ)/$*/seeds -artifact_prefix=$(FUZZ)/$*/ \
	    -max_total_time=$(FUZZ_SECONDS) -max_len=$(FUZZ_BYTES_$*) -verbosity=0 -print_final_stats=1

fuzz: tests-built fuzz-message fuzz-responder fuzz-dns fuzz-labels ## mutated requests and extreme numbers for the daemon, any bytes as a DNS message, any packets for our responder, any queries of DNS, any labels, 180 s each
	DISCOVERD_FUZZ_SECONDS=$(FUZZ_SECONDS) $(BUNDLE) --filter anyBytesAreAnsweredOrCutOff

soak: tests-built ## faults that take minutes, malformed packets: two hours and more
	SOAK=1 $(BUNDLE) --filter SoakTests

# What is judged: `make conformance JUDGED="avahi zeroconf"`.
JUDGED ?= discoverd avahi zeroconf resolved
FINDERS = $(filter-out resolved mdnsd,$(JUDGED))
REPORTS = $(TOOLS)/conformance
.PHONY: conformance conformance-document
conformance: ## what publishes and finds judged by rules of RFC 6762 and 6763 in a lab, 10 minutes each; fails where one is broken
	@.ci/deps test
	$(BUILD) --product discoverd
	$(BUILD) --product $(DAEMON)
	$(BUILD) --product discoverd-conformance
	status=0; Conformance/run $(JUDGED) || status=$$?; ((status < 2)) || exit $$status; \
	    $(if $(FINDERS),Conformance/run --queriers $(FINDERS) || status=$$?;) exit $$status

conformance-document: ## docs/conformance.md, of the reports that `make conformance` has left
	$(BUILT)/discoverd-conformance --markdown $(wildcard $(REPORTS)/*.json) >docs/conformance.md

lab: build ## a shell on each of two hosts in the lab, with discoverd in PATH
	@.ci/deps test
	@$(LAB)/play shell

demo: build ## publish on one host, browse and resolve on another, withdraw
	@.ci/deps test
	@$(LAB)/play demo

# The benchmarks' own package.
INSIDE = Benchmarks/Package.swift Benchmarks/Inside Benchmarks/Workloads
SWIFT_SOURCES = Sources Tests Package.swift Apps Conformance Examples $(INSIDE)

fmt: ## format the sources in place
	$(SWIFT) format format --in-place --recursive --parallel $(SWIFT_SOURCES)

check: ## formatting, shell scripts, forbidden constructs: what CI runs first
	$(SWIFT) format lint --strict --recursive --parallel $(SWIFT_SOURCES)
	@.ci/check

.PHONY: man words
man: build ## write the manual pages anew, of --help and docs/man/text
	docs/man/from-help $(DISCOVERD)
	set -e; for app in $(APPS); do docs/man/from-help $(BUILT)/$$app; done

words: build ## how much there is to learn: commands, options, concepts, lines of manual, the longest sentences
	@.ci/words $(DISCOVERD)

.PHONY: house
house: ## how big the house is: entries, targets, files, lines, stored Bools, names that mean two things
	@SWIFT=$(SWIFT) .ci/house

# Symbol graphs come from the debug build that tests need, too (docs/decisions/0060-an-api-that-is-written-down.md).
.PHONY: documented-built api api-accept
documented-built:
	@.ci/deps build
	$(WHOLE)

docs: documented-built ## DocC of all products, .build-docs/discoverd.doccarchive and .build-docs/site; and every example of the documents compiled
	.ci/symbols undocumented
	.ci/snippets
	.ci/docs

api: documented-built ## whether the public API is as docs/api has it
	.ci/symbols check
	.ci/portable

api-accept: documented-built ## write docs/api anew
	.ci/symbols accept

# Without programs and samples, and what those need.
UNDER = env -u DISCOVERD_WHOLE SWIFT_DETERMINISTIC_HASHING=1 $(SWIFT) build --traits Commands

# A long history: a race is not reported when one side's place in it is lost. Two threads that counted to 100,000 were found out in six of
# eight runs, with the default in one.
tsan: ## values, directory, engine and daemon under ThreadSanitizer
	@.ci/deps test
	$(UNDER) --build-tests --sanitize=thread --scratch-path .build-tsan
	@TSAN_OPTIONS="halt_on_error=1 history_size=7 suppressions=$(CURDIR)/Tests/tsan.suppressions $(TSAN_OPTIONS)" BUILT=.build-tsan/debug WIDTH=2 Tests/run $(SANITIZED)

# Freed memory stays with the sanitizer for a while: no more of it than tests allow that measure memory.
asan: ## the same under AddressSanitizer
	@.ci/deps test
	$(UNDER) --build-tests --sanitize=address --scratch-path .build-asan
	@ASAN_OPTIONS="detect_leaks=0:quarantine_size_mb=16:$(ASAN_OPTIONS)" BUILT=.build-asan/debug WIDTH=2 Tests/run $(SANITIZED)

$(STATIC)/libstdc++.a:
	@mkdir -p $(STATIC)
	ln -sf $$($(CC) -print-file-name=libstdc++.a) $@

.PHONY: $(RELEASE)/release/discoverd
$(RELEASE)/release/discoverd: $(STATIC)/libstdc++.a
	$(BUILD) $(AS_RELEASED) --product discoverd --scratch-path $(RELEASE)
	$(BUILD) $(AS_RELEASED) --product discoverd-daemon --scratch-path $(RELEASE)

# Building counts: what no goal needs is measured only while all is over within BENCH_SECONDS. The last steps take some of the rest.
BENCH_SECONDS = 1140
bench: BEGAN := $(shell date +%s)
bench: bench-built ## discoverd beside its peers, in the lab, in 20 minutes; writes docs/performance.md (BENCHED=another build)
	SWIFT=$(SWIFT) Benchmarks/run --discoverd $(BENCHED) --until $$(($(BEGAN) + $(BENCH_SECONDS)))

bench-full: bench-built ## the same with nothing left out, for an hour and more
	SWIFT=$(SWIFT) Benchmarks/run --discoverd $(BENCHED)

.PHONY: bench bench-full bench-built bench-deps publish-many inside-built
bench-built: bench-deps
	+$(MAKE) --no-print-directory --jobs=2 publish-many inside-built

bench-deps:
	@.ci/deps bench

publish-many: $(BENCHED)
	$(BUILD) $(AS_RELEASED) --product PublishMany --scratch-path $(RELEASE)
	$(BUILD) $(AS_RELEASED) --product PublishInZones --scratch-path $(RELEASE)

# A package of its own, in a directory of its own: it is built beside the other.
inside-built:
	SWIFT=$(SWIFT) Benchmarks/run --build-inside

bench-quick: bench-deps $(BENCHED) ## a few rows of it, on standard output
	Benchmarks/run --quick --discoverd $(BENCHED)

bench-inside: ## the library's inside, and whether it is within Benchmarks/Thresholds
	@.ci/deps bench
	SWIFT=$(SWIFT) Benchmarks/run --inside

# What discoverd becomes: the daemon, and commands for services of other domains and with TLS.
DAEMON = discoverd-daemon
LIBEXECDIR ?= $(PREFIX)/libexec/discoverd
UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
DOCDIR ?= $(PREFIX)/share/doc/discoverd
MANDIR ?= $(PREFIX)/share/man
SHARE = $(DESTDIR)$(PREFIX)/share
UNITS = discoverd.service $(COPIED_UNITS)
COPIED_UNITS = discoverd.socket discoverd-dns.socket discoverd-nss.socket discoverd-nss.path discoverd-nss.service
# The programs on the library (docs/apps).
APPS = stream-hello lanchat filedrop four-in-a-row witap tap-race
# Where install takes the programs from, and their completions.
RELEASED = $(RELEASE)/release
COMPLETIONS = $(RELEASE)/completions
APP_PAGES = $(wildcard $(APPS:%=docs/man/%.1))
PAGES = $(filter-out $(APP_PAGES),$(wildcard docs/man/*.[157]))
SHELLS = bash zsh fish
# By which editors complete the configuration, and programs check lines of JSON.
SCHEMAS = $(wildcard docs/*.schema.json)

# A release is built of the versions that are written down (docs/decisions/0031-what-a-package-resolves.md).
.PHONY: versions
versions:
	@SWIFT=$(SWIFT) .ci/versions check

# Building needs Swift, installing only copies: root has no Swift in its PATH.
release: deps versions $(STATIC)/libstdc++.a ## release build, with completions: what install copies
	$(BUILD) $(AS_RELEASED) --product discoverd --scratch-path $(RELEASE)
	$(BUILD) $(AS_RELEASED) --product $(DAEMON) --scratch-path $(RELEASE)
	$(call write-completions,discoverd)

release-apps: deps versions $(STATIC)/libstdc++.a ## release build of the programs of docs/apps: what install-apps copies
	set -e; for app in $(APPS); do $(BUILD) $(AS_RELEASED) --product $$app --scratch-path $(RELEASE); done
	$(call write-completions,$(APPS))

# $(call write-completions,PROGRAMS)
define write-completions
@set -eo pipefail; for shell in $(SHELLS); do mkdir -p $(COMPLETIONS)/$$shell; for program in $(1); do \
    $(RELEASED)/$$program --generate-completion-script $$shell | sed "1{/^#!/d}" >$(COMPLETIONS)/$$shell/$$program; done; done
endef

# $(call copy-completions,PROGRAMS) and $(call copy-pages,FILES)
define copy-completions
@set -e; for program in $(1); do \
    install -D -m 644 $(COMPLETIONS)/bash/$$program $(SHARE)/bash-completion/completions/$$program; \
    install -D -m 644 $(COMPLETIONS)/zsh/$$program $(SHARE)/zsh/site-functions/_$$program; \
    install -D -m 644 $(COMPLETIONS)/fish/$$program $(SHARE)/fish/vendor_completions.d/$$program.fish; done
endef
define copy-pages
@set -e; for page in $(1); do \
    install -D -m 644 $$page $(DESTDIR)$(MANDIR)/man$${page##*.}/$${page##*/}; done
endef
define remove-program
rm -f $(DESTDIR)$(PREFIX)/bin/$(1) $(SHARE)/bash-completion/completions/$(1) $(SHARE)/zsh/site-functions/_$(1)
rm -f $(SHARE)/fish/vendor_completions.d/$(1).fish

endef

# The running system has neither the unit's user nor the unit yet. A package's scripts do that.
define say-next
@printf '%s\n' 'Next, as root: the user that the daemon runs as, and the daemon' \
    '  systemd-sysusers $(SYSUSERSDIR)/discoverd.conf && systemctl daemon-reload' '  systemctl enable --now discoverd'
endef

install: ## copy the release build into $(DESTDIR)$(PREFIX), with units, completions and man pages
	@test -x $(RELEASED)/$(DAEMON) || { echo "Nothing is built yet; as yourself: make release" >&2; exit 1; }
	install -D -s -m 755 $(RELEASED)/discoverd $(DESTDIR)$(PREFIX)/bin/discoverd
	install -D -s -m 755 $(RELEASED)/$(DAEMON) $(DESTDIR)$(LIBEXECDIR)/discoverd-daemon
	install -d $(DESTDIR)$(UNITDIR)
	sed 's|@LIBEXECDIR@|$(LIBEXECDIR)|;s|@PREFIX@|$(PREFIX)|' systemd/discoverd.service >$(DESTDIR)$(UNITDIR)/discoverd.service
	chmod 644 $(DESTDIR)$(UNITDIR)/discoverd.service
	install -m 644 $(addprefix systemd/,$(COPIED_UNITS)) $(DESTDIR)$(UNITDIR)
	install -D -m 644 systemd/discoverd.sysusers $(DESTDIR)$(SYSUSERSDIR)/discoverd.conf
	install -D -m 644 docs/discoverd.yaml.example $(DESTDIR)$(DOCDIR)/examples/discoverd.yaml
	sed -i 's|=/usr/share/|=$(PREFIX)/share/|' $(DESTDIR)$(DOCDIR)/examples/discoverd.yaml
	install -d $(SHARE)/discoverd
	install -m 644 $(SCHEMAS) $(SHARE)/discoverd
	$(call copy-completions,discoverd)
	$(call copy-pages,$(PAGES))
	$(if $(DESTDIR),,$(say-next))

install-apps: ## copy the programs of docs/apps into $(DESTDIR)$(PREFIX)/bin, with completions and man pages
	@for app in $(APPS); do test -x $(RELEASED)/$$app || \
	    { echo "$$app is not built yet; as yourself: make release-apps" >&2; exit 1; }; done
	set -e; for app in $(APPS); do install -D -s -m 755 $(RELEASED)/$$app $(DESTDIR)$(PREFIX)/bin/$$app; done
	$(call copy-completions,$(APPS))
	$(call copy-pages,$(APP_PAGES))

uninstall: ## remove what install put there; the configuration stays
	$(call remove-program,discoverd)
	rm -f $(DESTDIR)$(LIBEXECDIR)/discoverd-daemon
	rm -f $(addprefix $(DESTDIR)$(UNITDIR)/,$(UNITS)) $(DESTDIR)$(SYSUSERSDIR)/discoverd.conf
	rm -f $(DESTDIR)$(DOCDIR)/examples/discoverd.yaml
	rm -rf $(SHARE)/discoverd
	rm -f $(foreach page,$(PAGES),$(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))

uninstall-apps: ## remove what install-apps put there
	$(foreach app,$(APPS),$(call remove-program,$(app)))
	rm -f $(addprefix $(DESTDIR)$(MANDIR)/man1/,$(notdir $(APP_PAGES)))

deb: release release-apps ## Debian packages in .build-tests/: discoverd and discoverd-apps
	systemd/debian/build $(TOOLS) $(MAKE)

# Not optimized, and with Swift's libraries: nobody's but test-systemd's. A change compiles nothing twice (docs/decisions/0070-one-build.md).
deb-of-tests: RELEASED = $(BUILT)
deb-of-tests: COMPLETIONS = $(TOOLS)/completions
deb-of-tests: tests-built
	$(call write-completions,discoverd)
	systemd/debian/build $(TOOLS)/unoptimized $(MAKE) RELEASED=$(RELEASED) COMPLETIONS=$(COMPLETIONS)

test-package: ## what a package gets that depends on this one: packages resolved, the library built
	@.ci/deps build
	SWIFT=$(SWIFT) Tests/fresh-package

test-systemd: deb-of-tests ## a package of what the tests have built in a booted Debian with a network of its own; needs root
	@.ci/deps systemd
	Tests/SystemdTests/run $(TOOLS)/unoptimized

test-released: deb ## the same with the package that is given away; needs root
	@.ci/deps systemd
	Tests/SystemdTests/run $(TOOLS)

test-upgrade: deb ## the package of an older commit (OLD_PACKAGE=…, else OLD_COMMIT, 851e08c), to this one and back; needs root
	@.ci/deps systemd
	Tests/SystemdTests/run-upgrade $(OLD_PACKAGE)

clean: ## remove everything that was built
	rm -rf .build .build-asan .build-bench .build-docs .build-inside .build-tests .build-tsan $(RELEASE) Benchmarks/.benchmarkBaselines
