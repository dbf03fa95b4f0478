# SPDX-License-Identifier: MIT
#
# make                 the program ./getmnt and the library ./libgetmnt.a
# make deps            install what building and testing need (apt); asks nothing
# make check           build and run every test (as root: real mounts as well)
# make install         install under $(DESTDIR)$(PREFIX); make uninstall undoes it
# make clean           remove all that was built
# make help            this text
#
# Parts of the check:
# make check-unit      the units, by CUnit
# make check-cases     the command line, on recorded tables
# make check-system    real mounts, in private mount namespaces; needs root
# make check-docs      --help, man pages and completion tell of the same options
# make lint            layers, shellcheck, mandoc, python
# make check-clang     all that is C, by clang and by $(CC), warnings being errors
#
# Beyond it:
# make check-asan      units, cases and system under ASan and UBSan
# make check-tsan      units, and walks by several threads, under TSan
# make check-valgrind  units and cases under valgrind memcheck
# make distcheck       build, test, install and uninstall what git would hand out
# make bench           what each algorithm costs; 10 minutes, BENCH=--quick one
#
# Variables: VARIANT=debug|release|asan|tsan|profile|gcov, CC, CFLAGS,
# LDFLAGS, DESTDIR, PREFIX (/usr/local).  Each variant builds in build/VARIANT.
# V=1 shows the commands.  TESTS=PATTERN runs the cases of that name alone.
# JOBS=N compiles N files at a time.
# GETMNT_REQUIRE_ROOT=1 in the environment: without root the check fails.

VERSION := 0.1.0
VARIANT ?= debug
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= cc
AR ?= ar
PKG_CONFIG ?= pkg-config

PKGS := mount blkid smartcols
BUILD := build/$(VARIANT)

VARIANT_CFLAGS_debug := -O2 -g
VARIANT_CFLAGS_release := -O2 -g -DNDEBUG -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fPIE
VARIANT_LDFLAGS_release := -pie -Wl,-z,relro,-z,now
VARIANT_CFLAGS_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
VARIANT_LDFLAGS_asan := -fsanitize=address,undefined
VARIANT_CFLAGS_tsan := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
VARIANT_LDFLAGS_tsan := -fsanitize=thread
VARIANT_CFLAGS_profile := -O2 -g -pg -fno-inline-functions-called-once
VARIANT_LDFLAGS_profile := -pg
VARIANT_CFLAGS_gcov := -O0 -g --coverage
VARIANT_LDFLAGS_gcov := --coverage

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings \
	-Wundef -Wformat=2 -Wvla -Wno-missing-field-initializers

ALL_CPPFLAGS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DGETMNT_VERSION='"$(VERSION)"' \
	-iquote src -iquote include -MMD -MP $(CPPFLAGS)
ALL_CFLAGS = -pthread $(CC_FLAGS) $(VARIANT_CFLAGS_$(VARIANT)) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pthread $(VARIANT_LDFLAGS_$(VARIANT)) $(LDFLAGS)
LIBS = $(PKG_LIBS)

# Asked once each, and not before they are needed: "make deps all" installs
# first what these ask.  Flags that the compiler does not know are left out.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell $(PKG_CONFIG) --libs $(PKGS)))$(PKG_LIBS)
CC_FLAGS = $(eval CC_FLAGS := $$(shell CC='$(CC)' build-aux/cc-flags -std=gnu17 $(WARNINGS)))$(CC_FLAGS)

# When deps is among the goals, everything else waits for it.
AFTER_DEPS := $(if $(filter deps,$(MAKECMDGOALS)),deps)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$@')
# A jobserver of our own, unless there is one.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring --jobserver,$(MAKEFLAGS)),,-j$(JOBS))

LIB_SRC := $(filter-out src/getmnt.c,$(wildcard src/*.c src/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
UNIT_SRC := tests/unit/main.c $(wildcard tests/unit/test_*.c)
UNIT_OBJ := $(UNIT_SRC:%.c=$(BUILD)/%.o)

.PHONY: all
all: $(BUILD)/getmnt $(BUILD)/libgetmnt.a
ifeq ($(filter asan tsan gcov,$(VARIANT)),)
	@ln -f $(BUILD)/getmnt getmnt
	@ln -f $(BUILD)/libgetmnt.a libgetmnt.a
endif

$(BUILD)/getmnt: $(BUILD)/src/getmnt.o $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libgetmnt.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^

$(BUILD)/%.o: %.c | $(AFTER_DEPS)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/tests/unit/unit: $(UNIT_OBJ) $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -lcunit

# The suites are those that there are files of.
SUITES := $(patsubst tests/unit/test_%.c,SUITE(%),$(wildcard tests/unit/test_*.c))
$(BUILD)/tests/unit/suites.inc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(SUITES:%='%') | cmp -s - $@ || printf '%s\n' $(SUITES:%='%') >$@
$(BUILD)/tests/unit/main.o: ALL_CPPFLAGS += -iquote $(BUILD)/tests/unit
$(BUILD)/tests/unit/main.o: $(BUILD)/tests/unit/suites.inc

.PHONY: FORCE
FORCE:

# Everything that is compiled.
.PHONY: binaries
binaries: $(BUILD)/getmnt $(BUILD)/libgetmnt.a $(BUILD)/tests/unit/unit

.PHONY: deps
deps:
	@build-aux/deps

.PHONY: check
check: | $(AFTER_DEPS)
	@$(SUBMAKE) binaries
	+@build-aux/tally \
		"check-unit: $(MAKE) --no-print-directory check-unit" \
		"check-cases: $(MAKE) --no-print-directory check-cases" \
		"check-system: $(MAKE) --no-print-directory check-system" \
		"check-docs: $(MAKE) --no-print-directory check-docs" \
		"lint: $(MAKE) --no-print-directory lint" \
		"check-clang: $(MAKE) --no-print-directory check-clang"

.PHONY: check-unit
check-unit: $(BUILD)/tests/unit/unit
	$(BUILD)/tests/unit/unit

.PHONY: check-cases
check-cases: $(BUILD)/getmnt
	tests/run.sh --getmnt $(BUILD)/getmnt $(TESTS)

.PHONY: check-system
check-system: $(BUILD)/getmnt
	tests/system/run.sh --getmnt $(BUILD)/getmnt $(TESTS)

.PHONY: check-docs
check-docs: $(BUILD)/getmnt
	tests/docs.sh $(BUILD)/getmnt

.PHONY: lint
lint: | $(AFTER_DEPS)
	build-aux/lint

.PHONY: check-clang
check-clang: | $(AFTER_DEPS)
	@if command -v clang >/dev/null; then \
		$(SUBMAKE) binaries CC=clang BUILD=build/clang CFLAGS='$(CFLAGS) -Werror'; \
	else echo "skip: there is no clang"; fi
	@$(SUBMAKE) binaries BUILD=build/werror CFLAGS='$(CFLAGS) -Werror'

.PHONY: check-asan
check-asan: | $(AFTER_DEPS)
	@$(SUBMAKE) VARIANT=asan binaries
	+@build-aux/tally \
		"asan-unit: $(MAKE) --no-print-directory VARIANT=asan check-unit" \
		"asan-cases: $(MAKE) --no-print-directory VARIANT=asan check-cases" \
		"asan-system: $(MAKE) --no-print-directory VARIANT=asan check-system"

.PHONY: check-tsan
check-tsan: | $(AFTER_DEPS)
	@$(SUBMAKE) VARIANT=tsan binaries
	+@build-aux/tally \
		"tsan-unit: $(MAKE) --no-print-directory VARIANT=tsan check-unit" \
		"tsan-threads: $(MAKE) --no-print-directory VARIANT=tsan check-system TESTS='container_host deep_internal fstypes'"

# valgrind 3.19 knows neither listmount and statmount nor openat2.
VALGRIND := valgrind -q --suppressions=tests/lib/valgrind.supp --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite
.PHONY: check-valgrind
check-valgrind: export GETMNT_DISABLE := listmount,openat2
check-valgrind: | $(AFTER_DEPS)
	@$(SUBMAKE) binaries
	+@build-aux/tally \
		"valgrind-unit: $(VALGRIND) $(BUILD)/tests/unit/unit" \
		"valgrind-cases: tests/run.sh --valgrind --getmnt $(BUILD)/getmnt $(TESTS)"

.PHONY: distcheck
distcheck:
	build-aux/distcheck '$(MAKE)' getmnt-$(VERSION)

.PHONY: bench
bench: $(BUILD)/getmnt
	bench/run --getmnt $(BUILD)/getmnt $(BENCH)

BINDIR := $(DESTDIR)$(PREFIX)/bin
MANDIR := $(DESTDIR)$(PREFIX)/share/man/man8
COMPDIR := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
MAN8 := $(wildcard man/*.8)
COMPLETION := $(wildcard contrib/completion/getmnt)

.PHONY: install
install: $(BUILD)/getmnt
	install -d $(BINDIR) $(MANDIR) $(COMPDIR)
	install -m 755 $(BUILD)/getmnt $(BINDIR)/getmnt
	$(if $(MAN8),install -m 644 $(MAN8) $(MANDIR))
	$(if $(COMPLETION),install -m 644 $(COMPLETION) $(COMPDIR)/getmnt)

# Directories go only from a staging area: elsewhere they may have been there.
.PHONY: uninstall
uninstall:
	rm -f $(BINDIR)/getmnt $(COMPDIR)/getmnt $(patsubst man/%,$(MANDIR)/%,$(MAN8))
ifneq ($(DESTDIR),)
	@for dir in $(BINDIR) $(MANDIR) $(COMPDIR); do \
		if [ -d "$$dir" ]; then \
			(cd $(DESTDIR) && rmdir -p --ignore-fail-on-non-empty "$${dir#$(DESTDIR)/}"); \
		fi; \
	done
endif

.PHONY: help
help:
	@sed -n '/^#$$/,/^$$/s/^# \{0,1\}//p' Makefile

.PHONY: clean
clean:
	rm -rf build getmnt libgetmnt.a gmon.out

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -name '*.d')
