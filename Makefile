# SPDX-License-Identifier: MIT
#
# make                 the program ./getmnt and the library: ./libgetmnt.a, and
#                      shared in build/VARIANT/lib
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
# make check-lib       the library as it is installed: what it exports, its example
# make check-docs      --help, man pages and completion tell of the same options
# make check-corpus    the seeds of the fuzz targets, and all that they ever found
# make lint            layers, shellcheck, mandoc, python
# make check-clang     all that is C, by clang and by $(CC), warnings being errors
#
# Beyond it:
# make check-asan      units, cases and system under ASan and UBSan
# make check-tsan      units, and walks by several threads, under TSan
# make check-valgrind  units and cases under valgrind memcheck
# make check-vm        system, and NFS, 9p, device mapper, md, vfat and others, on a
#                      stock kernel 6.1 in two virtual machines, by make deps-vm; 20
#                      minutes.  What they need is downloaded once, into build/vm
# make check-fleet     a host that systemd manages, by its timer, and
#                      twelve hosts in namespaces, asked by ClusterShell, Ansible,
#                      Prometheus and others as docs/FLEET.md says, by make
#                      deps-fleet; 2 minutes.  Not beside check-system, which
#                      would take its loop devices for left behind
# make check-long      a thousand of each signal, on a terminal and off, and
#                      searches of a million entries, and a minute beside
#                      writers; 20 minutes
# make soak            an hour beside hung file systems, in a storm of mounts
# make distcheck       build, test, install and uninstall what git would hand out
# make deb             Debian packages of the commit at HEAD, in build/deb
# make check-deb       build them twice; install, use and remove them in a chroot
# make fuzz            fuzz every parser, FUZZ_TIME=300 seconds each (0: until
#                      interrupted), FUZZ='TARGET...' alone: see fuzz/README.md
# make check-fuzz      the same, as many inputs as fuzz/runs says
# make bench           what each algorithm costs; 10 minutes, BENCH=--quick one
# make growth          how calls, time and memory grow, and the pictures of it in
#                      docs/growth; 10 minutes, BENCH='--quick --plot DIR' one
# make profile         a program for gprof, build/profile/getmnt: a run leaves gmon.out
# make profile-report  the profiles of docs/PROFILE.md, by gprof, on a tree that it
#                      builds, as root; or of a directory, printed: TREE=DIR; 1 minute
# make profile-layers  where the time of each algorithm goes: tables and picture of
#                      docs/PROFILE.md; 2 minutes; as root it drops the kernel's caches
# make compare-genfstab  the table of docs/GENFSTAB.md, by running both
# make compare-verify    that of docs/VERIFY.md
# make study           Smith's experiment of 1988 again: the tables of docs/STUDY.md;
#                      2 minutes, needs root
# make run-docs        what the commands of docs/LOST-FSTAB.md print, by running
#                      them; make run-fleet those of docs/FLEET.md
# make deps-bench      what bench measures getmnt search against, bfs and fd; gnuplot; and,
#                      in build/plocate, not installed, plocate
#
# make check-ci        what .ci/run runs after make check: of the sanitizers and valgrind the
#                      part that finds most for its time, a short fuzzing run, packages;
#                      tests/README.md says what is where
# make check-full      all of the above: three hours
#
# Variables: VARIANT=debug|release|asan|tsan|profile|gcov|plain (of plain, all
# flags but the needed ones are yours), CC, CFLAGS, LDFLAGS, DESTDIR, PREFIX
# (/usr/local), LIBDIR (PREFIX/lib).  Each variant builds in build/VARIANT.
# V=1 shows the commands.  TESTS=PATTERN runs the cases of that name alone,
# UNIT='NAME...' the unit suites of those names.
# JOBS=N compiles N files at a time.
# GETMNT_REQUIRE_ROOT=1 in the environment: without root the check fails.
# GETMNT_SCALE=full: 32,000 mounts on one path, where the check has 6,000.

VERSION := 0.1.0
# Of the shared library: ABI, additions to it, the rest.  include/getmnt/getmnt.h
# says what may change, src/lib/libgetmnt.map has the names.
LIB_ABI := 0
LIB_VERSION := $(LIB_ABI).1.0
VARIANT ?= debug
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
CC ?= cc
AR ?= ar
OBJCOPY ?= objcopy
PKG_CONFIG ?= pkg-config

PKGS := mount blkid smartcols jansson
BUILD := build/$(VARIANT)

VARIANT_CFLAGS_debug := -O2 -g
VARIANT_CFLAGS_release := -O2 -g -DNDEBUG -D_FORTIFY_SOURCE=2 -fstack-protector-strong
VARIANT_LDFLAGS_release := -Wl,-z,relro,-z,now
VARIANT_PIE_release := -pie
VARIANT_CFLAGS_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
VARIANT_LDFLAGS_asan := -fsanitize=address,undefined
VARIANT_CFLAGS_tsan := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
VARIANT_LDFLAGS_tsan := -fsanitize=thread
VARIANT_CFLAGS_fuzz := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
VARIANT_LDFLAGS_fuzz := -fsanitize=fuzzer,address,undefined
# For gprof: a function is one of that name, and no copy or part of it has another; what
# enters the kernel is a function of its own (src/os/crossing.h), and so is all of os/.
# Addresses are those of the file: no PIE.
VARIANT_CFLAGS_profile = -O2 -pg -DGM_PROFILE $(PROFILE_FLAGS) $(OS_FLAGS)
PROFILE_FLAGS = $(eval PROFILE_FLAGS := $$(shell CC='$(CC)' build-aux/cc-flags -fno-inline-functions-called-once \
	-fno-partial-inlining -fno-ipa-cp -fno-ipa-sra -fno-ipa-icf -fno-reorder-blocks-and-partition))$(PROFILE_FLAGS)
VARIANT_LDFLAGS_profile := -pg
VARIANT_PIE_profile := -no-pie
build/profile/src/os/%.o build/profile/src/probe/%.o: OS_FLAGS := -fno-inline
VARIANT_CFLAGS_gcov := -O0 -g --coverage
VARIANT_LDFLAGS_gcov := --coverage
VARIANT_CFLAGS_plain := -DNDEBUG

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wold-style-definition -Wpointer-arith -Wcast-qual -Wwrite-strings \
	-Wundef -Wformat=2 -Wvla -Wno-missing-field-initializers

ALL_CPPFLAGS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DGETMNT_VERSION='"$(VERSION)"' \
	-iquote src -iquote include -MMD -MP $(CPPFLAGS)
# Objects serve program and shared library alike; each function is a section, so
# that the library leaves out what it does not need.
ALL_CFLAGS = -pthread -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections $(CC_FLAGS) $(VARIANT_CFLAGS_$(VARIANT)) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pthread $(VARIANT_LDFLAGS_$(VARIANT)) $(LDFLAGS)
LIBS = $(PKG_LIBS)

# Asked once each, and not before they are needed: "make deps all" installs
# first what these ask.  Flags that the compiler does not know are left out.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell $(PKG_CONFIG) --libs $(PKGS)))$(PKG_LIBS)
CC_FLAGS = $(eval CC_FLAGS := $$(shell CC='$(CC)' build-aux/cc-flags -std=gnu17 $(WARNINGS)))$(CC_FLAGS)

# The program for gprof, whatever is built else.  A system case holds its counts against
# those of a debug build, on machines that src/os/crossing.c knows.
PROFILE := build/profile/getmnt
PROFILED := $(if $(filter debug,$(VARIANT)),$(if $(filter x86_64 aarch64,$(shell uname -m)),$(PROFILE)))

# When deps is among the goals, everything else waits for it.
AFTER_DEPS := $(if $(filter deps,$(MAKECMDGOALS)),deps)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$@')
# A jobserver of our own, unless there is one.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring --jobserver,$(MAKEFLAGS)),,-j$(JOBS))

LIB_SRC := $(filter-out src/getmnt.c,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c)))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
# The public library: all but the commands.
PUBLIC_OBJ := $(filter-out $(BUILD)/src/cmd/%,$(LIB_OBJ))
PUBLIC_SO := $(BUILD)/lib/libgetmnt.so.$(LIB_VERSION)
PUBLIC_A := $(BUILD)/lib/libgetmnt.a
PUBLIC := $(if $(filter asan tsan gcov fuzz profile,$(VARIANT)),,$(PUBLIC_SO) $(PUBLIC_A))
UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT_OBJ := $(UNIT_SRC:%.c=$(BUILD)/%.o)

.PHONY: all
all: $(BUILD)/getmnt $(BUILD)/libgetmnt.a $(PUBLIC)
ifneq ($(PUBLIC),)
	@ln -f $(BUILD)/getmnt getmnt
	@ln -f $(PUBLIC_A) libgetmnt.a
endif

$(BUILD)/getmnt: $(BUILD)/src/getmnt.o $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(VARIANT_PIE_$(VARIANT)) -o $@ $^ $(LIBS)

# All that there is but main(), for the program and the tests.
$(BUILD)/libgetmnt.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^

# The linker drops what no public function reaches, libmount and libblkid with it.
# dlclose(3) does not unmap the library: threads of a search may be in it (nodelete).
$(PUBLIC_SO): $(PUBLIC_OBJ) src/lib/libgetmnt.map
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -Wl,-soname,libgetmnt.so.$(LIB_ABI) \
		-Wl,--version-script=src/lib/libgetmnt.map -Wl,--gc-sections -Wl,-z,defs -Wl,-z,nodelete -o $@ $(PUBLIC_OBJ)

# One object, in which only the public functions are seen: a program can have an
# os_open() of its own.
$(PUBLIC_A): $(PUBLIC_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR)
	$(Q)$(CC) -r -nostdlib -Wl,--gc-sections,--gc-keep-exported,-u,getmnt_new \
		-o $(@D)/getmnt.o $(PUBLIC_OBJ)
	$(Q)$(OBJCOPY) --localize-hidden $(@D)/getmnt.o
	$(Q)$(AR) rcs $@ $(@D)/getmnt.o

# Flags change with this file.
$(BUILD)/%.o: %.c Makefile | $(AFTER_DEPS)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/tests/unit/unit: $(UNIT_OBJ) $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(FAULT_WRAPS:%=-Wl,--wrap=%) -o $@ $^ $(LIBS) -lcunit

# The functions that can be made to fail are those that fault.c defines.
FAULT_WRAPS = $(shell sed -nE 's/^WRAP(_NEW|_FREE)?\([^,]*, ([a-z0-9_]+)[,)].*/\2/p' tests/unit/fault.c)

# The suites are those that there are files of.
SUITES := $(patsubst tests/unit/test_%.c,SUITE(%),$(wildcard tests/unit/test_*.c))
$(BUILD)/tests/unit/suites.inc: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(SUITES:%='%') | cmp -s - $@ || printf '%s\n' $(SUITES:%='%') >$@
$(BUILD)/tests/unit/main.o: ALL_CPPFLAGS += -iquote $(BUILD)/tests/unit
$(BUILD)/tests/unit/main.o: $(BUILD)/tests/unit/suites.inc

# What system cases ask of the models alone.
ASKED := $(BUILD)/tests/lib/prove $(BUILD)/tests/lib/loaded
$(ASKED): %: %.o $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# The program on a host that is a directory: what tests/lib/recorded.c defines is wrapped.
RECORDED := $(BUILD)/tests/lib/recorded
RECORDED_WRAP = $(shell sed -n 's/^[a-z].*__wrap_\([a-z0-9_]*\)(.*)$$/\1/p' tests/lib/recorded.c)
$(RECORDED): %: %.o $(BUILD)/src/getmnt.o $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(RECORDED_WRAP:%=-Wl,--wrap=%) -o $@ $^ $(LIBS)

# What system cases load into the program.
LOADED := $(BUILD)/tests/lib/nomem.so
$(LOADED): %.so: %.o
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -o $@ $^

# A fuzz target is a file of fuzz/.  It is linked to libFuzzer where the
# variant is fuzz, else to a driver that replays files; the calls of the
# library to os/ end in fuzz/lib/kernel.c.
FUZZ_TARGETS := $(patsubst fuzz/%.c,%,$(wildcard fuzz/*.c))
FUZZ_LIB := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(if $(filter fuzz,$(VARIANT)),%/driver.c),$(wildcard fuzz/lib/*.c)))
FUZZ_WRAP = $(sort $(shell grep -o '__wrap_os_[a-z0-9_]*' fuzz/lib/kernel.c))
$(FUZZ_TARGETS:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(BUILD)/fuzz/%.o $(FUZZ_LIB) $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(FUZZ_WRAP:__wrap_%=-Wl,--wrap=%) -o $@ $^ $(LIBS)

.PHONY: fuzz-targets
fuzz-targets: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%)

.PHONY: FORCE
FORCE:

# Everything that is compiled.
.PHONY: binaries
binaries: $(BUILD)/getmnt $(BUILD)/libgetmnt.a $(PUBLIC) $(BUILD)/tests/unit/unit $(ASKED) $(RECORDED) $(LOADED) fuzz-targets

.PHONY: deps deps-bench deps-vm deps-fleet
deps:
	@build-aux/deps
deps-bench:
	@build-aux/deps bench
deps-vm:
	@build-aux/deps vm
deps-fleet:
	@build-aux/deps fleet

# Of the runs with a failing call or allocation every one of so many is done;
# make distcheck does all.
export GETMNT_FAULT_STEP ?= 10

.PHONY: check
check: | $(AFTER_DEPS)
	@$(SUBMAKE) binaries $(PROFILED)
	+@build-aux/tally \
		"check-unit: $(MAKE) --no-print-directory check-unit" \
		"check-cases: $(MAKE) --no-print-directory check-cases" \
		"check-system-1: $(MAKE) --no-print-directory check-system PART=1/2" \
		-- \
		"check-system-2: $(MAKE) --no-print-directory check-system PART=2/2" \
		"check-lib: $(MAKE) --no-print-directory check-lib" \
		"check-docs: $(MAKE) --no-print-directory check-docs" \
		"check-corpus: $(MAKE) --no-print-directory check-corpus" \
		"lint: $(MAKE) --no-print-directory lint" \
		"check-clang: $(MAKE) --no-print-directory check-clang"

.PHONY: check-unit
check-unit: $(BUILD)/tests/unit/unit
	$(BUILD)/tests/unit/unit $(UNIT)

.PHONY: check-cases
check-cases: $(BUILD)/getmnt $(RECORDED)
	tests/run.sh --getmnt $(BUILD)/getmnt $(TESTS)

.PHONY: check-system
check-system: $(BUILD)/getmnt $(ASKED) $(PROFILED)
	tests/system/run.sh --getmnt $(BUILD)/getmnt $(if $(PART),--part $(PART)) $(TESTS)

ifneq ($(VARIANT),profile)
$(PROFILE): FORCE | $(AFTER_DEPS)
	+@$(SUBMAKE) VARIANT=profile BUILD=build/profile $@
endif

.PHONY: profile profile-report
profile: $(PROFILE)
	@echo 'A run leaves gmon.out in the directory it is called in, which gprof reads:'
	@echo '  $(PROFILE) --names=walk --algorithm=getmnt1 --root=/usr'
	@echo '  gprof -b -p $(PROFILE) gmon.out'
	@echo 'make profile-report does that for getmnt1, 2 and 3 (TREE=DIR: on a directory).'

# The page is of the tree that it builds.
profile-report: $(PROFILE)
	@bench/profile_report.py --getmnt $(PROFILE) $(if $(TREE),-- "$$TREE",--update docs/PROFILE.md)

.PHONY: compare-genfstab compare-verify run-docs
compare-genfstab compare-verify run-docs: $(BUILD)/getmnt
	GETMNT_UPDATE=1 tests/system/run.sh --getmnt $(BUILD)/getmnt $(if $(filter run-docs,$@),lost_fstab,$(@:compare-%=%))

.PHONY: check-lib
check-lib: $(PUBLIC_SO) $(PUBLIC_A)
	tests/lib.sh '$(MAKE)' $(BUILD)

.PHONY: check-docs
check-docs: $(BUILD)/getmnt
	tests/docs.sh $(BUILD)/getmnt

.PHONY: check-corpus
check-corpus: fuzz-targets
	fuzz/run --replay $(BUILD) $(FUZZ)

FUZZ_CC ?= clang
fuzz: FUZZ_TIME ?= 300
# What is checked differs neither from day to day nor by machine; what is sought does.
check-fuzz: FUZZ_TIME ?= 0
check-fuzz: FUZZ_SEED ?= 1
check-fuzz: FUZZ_COUNTED = --counted $(or $(FUZZ_PERCENT),100)
.PHONY: fuzz check-fuzz
fuzz check-fuzz: | $(AFTER_DEPS)
	@if fuzz/run --probe '$(FUZZ_CC)'; then \
		$(SUBMAKE) VARIANT=fuzz CC='$(FUZZ_CC)' fuzz-targets && \
		fuzz/run --time $(FUZZ_TIME) --jobs $(JOBS) --seed $(or $(FUZZ_SEED),0) $(FUZZ_COUNTED) build/fuzz $(FUZZ); \
	else \
		echo "skip: $(FUZZ_CC) has no libFuzzer; what is known is tried again"; \
		$(MAKE) --no-print-directory check-corpus; \
	fi

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
		"asan-corpus: $(MAKE) --no-print-directory VARIANT=asan check-corpus" \
		"asan-system: $(MAKE) --no-print-directory VARIANT=asan check-system"

.PHONY: check-tsan
check-tsan: | $(AFTER_DEPS)
	@$(SUBMAKE) VARIANT=tsan binaries
	+@build-aux/tally \
		"tsan-unit: $(MAKE) --no-print-directory VARIANT=tsan check-unit" \
		"tsan-corpus: $(MAKE) --no-print-directory VARIANT=tsan check-corpus FUZZ=statmount" \
		"tsan-threads: $(MAKE) --no-print-directory VARIANT=tsan check-system TESTS='container_host deep_internal fstypes search_divided search_flow search_races'"

# valgrind 3.19 knows neither listmount and statmount nor openat2.
VALGRIND := valgrind -q --suppressions=tests/lib/valgrind.supp --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite
.PHONY: check-valgrind check-valgrind-unit
check-valgrind check-valgrind-unit: export GETMNT_DISABLE := listmount,openat2
check-valgrind check-valgrind-unit: export GETMNT_FAULT_STEP = 100
check-valgrind-unit: $(BUILD)/tests/unit/unit
	$(VALGRIND) $(BUILD)/tests/unit/unit $(UNIT)
check-valgrind: | $(AFTER_DEPS)
	@$(SUBMAKE) binaries
	+@build-aux/tally \
		"valgrind-unit: $(MAKE) --no-print-directory check-valgrind-unit" \
		"valgrind-cases: tests/run.sh --valgrind --getmnt $(BUILD)/getmnt $(TESTS)" \
		"valgrind-corpus: fuzz/run --replay --wrap '$(VALGRIND)' $(BUILD)"

# Units with threads; those of the core; every third system case, the short ones that
# reach most code.
CI_TSAN := bfs discover layers libgetmnt profile search search_raw
CI_VALGRIND := bfs discover mounttree table tablines search pattern replace devmap recover
CI_ASAN_SYSTEM := audit audit_baseline audit_bound audit_held audit_host audit_policy audit_under autofs bare bare_root binds \
	btrfs chroot_plain covered covered_blocking deleted denied escape figure4 file_points fstab_merge fuse_hung fuse_overlay \
	hung_paths loop_blocking machine matrix names no_proc planted probe recover search search_follow seccomp task vanish
.PHONY: check-ci
check-ci: | $(AFTER_DEPS)
	@$(SUBMAKE) VARIANT=asan binaries
	@$(SUBMAKE) VARIANT=tsan binaries
	+@build-aux/tally \
		"asan-unit: $(MAKE) --no-print-directory VARIANT=asan check-unit" \
		"asan-cases: $(MAKE) --no-print-directory VARIANT=asan check-cases" \
		"asan-system: $(MAKE) --no-print-directory VARIANT=asan check-system TESTS='$(CI_ASAN_SYSTEM)'" \
		-- \
		"tsan-unit: $(MAKE) --no-print-directory VARIANT=tsan check-unit UNIT='$(CI_TSAN)'" \
		"valgrind-unit: $(MAKE) --no-print-directory check-valgrind-unit UNIT='$(CI_VALGRIND)'" \
		"check-fuzz: $(MAKE) --no-print-directory check-fuzz FUZZ_PERCENT=10" \
		"check-deb: $(MAKE) --no-print-directory check-deb"

.PHONY: check-full
check-full: | $(AFTER_DEPS)
	+@build-aux/tally \
		"check: $(MAKE) --no-print-directory check" \
		"check-asan: $(MAKE) --no-print-directory check-asan" \
		"check-tsan: $(MAKE) --no-print-directory check-tsan" \
		"check-valgrind: $(MAKE) --no-print-directory check-valgrind" \
		"distcheck: $(MAKE) --no-print-directory distcheck" \
		"check-deb: $(MAKE) --no-print-directory check-deb" \
		"check-long: $(MAKE) --no-print-directory check-long" \
		"check-vm: $(MAKE) --no-print-directory deps-vm check-vm" \
		"check-fleet: $(MAKE) --no-print-directory deps-fleet check-fleet"

.PHONY: check-vm
check-vm: $(BUILD)/getmnt
	tests/vm/run.sh --getmnt $(BUILD)/getmnt $(TESTS)

.PHONY: check-fleet run-fleet
check-fleet run-fleet: $(BUILD)/getmnt
	$(if $(filter run-fleet,$@),GETMNT_UPDATE=1 )GETMNT_SECONDS=600 tests/system/run.sh --getmnt $(BUILD)/getmnt --cases tests/fleet $(TESTS)

# SIGNALS=N for another number.
.PHONY: check-long
check-long: $(BUILD)/getmnt
	GETMNT_SIGNALS=$(or $(SIGNALS),1000) GETMNT_SECONDS=3000 \
		tests/system/run.sh --getmnt $(BUILD)/getmnt signals terminal_signals
	GETMNT_LONG=1 GETMNT_SECONDS=3000 tests/system/run.sh --getmnt $(BUILD)/getmnt search_limits search_races files_races

# SOAK="SECONDS EVERY RATE" for another length.
.PHONY: soak
soak: $(BUILD)/getmnt
	tests/soak.sh $(BUILD)/getmnt $(SOAK)

.PHONY: distcheck
distcheck:
	build-aux/distcheck '$(MAKE)' getmnt-$(VERSION)

.PHONY: deb
deb:
	build-aux/deb

.PHONY: check-deb
check-deb:
	tests/deb.sh '$(MAKE)'

.PHONY: bench
bench: $(BUILD)/getmnt
	bench/run --getmnt $(BUILD)/getmnt $(BENCH)

.PHONY: study
study: $(BUILD)/getmnt
	bench/study.py --real --getmnt $(BUILD)/getmnt --write docs/STUDY.md

# On tmpfs, which lists directories in the same order each time: calls are exact.
.PHONY: growth
growth: $(BUILD)/getmnt
	bench/run --getmnt $(BUILD)/getmnt --part growth --fs tmpfs --plot docs/growth $(BENCH)

# TRIES=N: of so many runs that which waited least for a processor.
.PHONY: profile-layers
profile-layers: $(BUILD)/getmnt
	bench/layers.py --getmnt $(BUILD)/getmnt --update docs --tries $(or $(TRIES),5)

BINDIR := $(DESTDIR)$(PREFIX)/bin
LIBDEST := $(DESTDIR)$(LIBDIR)
INCDIR := $(DESTDIR)$(PREFIX)/include/getmnt
MANDIR := $(DESTDIR)$(PREFIX)/share/man
COMPDIR := $(DESTDIR)$(PREFIX)/share/bash-completion/completions
# Where initramfs-tools and dracut look, if PREFIX is /usr.
HOOKDIR := $(DESTDIR)$(PREFIX)/share/initramfs-tools/hooks
DRACUTDIR := $(DESTDIR)$(PREFIX)/lib/dracut/modules.d/95getmnt
# Where Nagios and its kin look for plugins.
PLUGINDIR := $(DESTDIR)$(PREFIX)/lib/nagios/plugins
# Where systemd looks for units; they are enabled by nobody.
UNITPATH ?= $(PREFIX)/lib/systemd/system
UNITDIR = $(DESTDIR)$(UNITPATH)
UNITS := getmnt-audit.service getmnt-audit.timer
HEADERS := $(wildcard include/getmnt/*.h)
MANPAGES := $(wildcard man/*.[1-8])
# Each public function has a page that leads to the one it is told in.
API = $(filter-out opensearch,$(shell sed -n 's/^[[:blank:]]*\([a-z0-9_]*\);$$/\1/p' src/lib/libgetmnt.map))

.PHONY: install
install: $(BUILD)/getmnt $(PUBLIC_SO) $(PUBLIC_A)
	install -d $(BINDIR) $(COMPDIR) $(LIBDEST)/pkgconfig $(INCDIR) $(MANDIR)/man3 $(MANDIR)/man5 $(MANDIR)/man8
	install -m 755 $(BUILD)/getmnt $(BINDIR)/getmnt
	install -m 644 contrib/completion/getmnt $(COMPDIR)/getmnt
	install -d $(HOOKDIR) $(DRACUTDIR) $(PLUGINDIR)
	ln -sf ../../../bin/getmnt $(PLUGINDIR)/check_getmnt
	install -m 755 contrib/initramfs-tools/hooks/getmnt $(HOOKDIR)/getmnt
	install -m 755 contrib/dracut/95getmnt/module-setup.sh $(DRACUTDIR)/module-setup.sh
	install -d $(UNITDIR)
	set -e; $(foreach unit,$(UNITS),sed 's|/usr/bin/getmnt|$(PREFIX)/bin/getmnt|' contrib/systemd/$(unit) >$(UNITDIR)/$(unit); chmod 644 $(UNITDIR)/$(unit);)
	install -m 644 $(HEADERS) $(INCDIR)
	install -m 644 $(PUBLIC_A) $(PUBLIC_SO) $(LIBDEST)
	ln -sf $(notdir $(PUBLIC_SO)) $(LIBDEST)/libgetmnt.so.$(LIB_ABI)
	ln -sf libgetmnt.so.$(LIB_ABI) $(LIBDEST)/libgetmnt.so
	sed -e 's|@prefix@|$(PREFIX)|; s|@libdir@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|' \
		-e 's|@includedir@|$${prefix}/include|; s|@version@|$(VERSION)|' \
		contrib/libgetmnt.pc.in >$(LIBDEST)/pkgconfig/libgetmnt.pc
	chmod 644 $(LIBDEST)/pkgconfig/libgetmnt.pc
	set -e; $(foreach page,$(MANPAGES),install -m 644 $(page) $(MANDIR)/man$(subst .,,$(suffix $(page)));)
	set -e; $(foreach name,$(API),echo '.so man3/$(if $(filter getmnt_%,$(name)),getmnt,opensearch).3' >$(MANDIR)/man3/$(name).3; chmod 644 $(MANDIR)/man3/$(name).3;)

# Directories go only from a staging area, but for those of ours alone:
# elsewhere they may have been there.
.PHONY: uninstall
uninstall:
	rm -f $(BINDIR)/getmnt $(COMPDIR)/getmnt $(HOOKDIR)/getmnt $(DRACUTDIR)/module-setup.sh $(PLUGINDIR)/check_getmnt $(addprefix $(UNITDIR)/,$(UNITS)) $(patsubst include/getmnt/%,$(INCDIR)/%,$(HEADERS)) \
		$(addprefix $(LIBDEST)/,libgetmnt.a libgetmnt.so libgetmnt.so.$(LIB_ABI)) \
		$(LIBDEST)/$(notdir $(PUBLIC_SO)) $(LIBDEST)/pkgconfig/libgetmnt.pc \
		$(foreach page,$(MANPAGES),$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))) \
		$(API:%=$(MANDIR)/man3/%.3)
	@for dir in $(INCDIR) $(DRACUTDIR); do \
		if [ -d "$$dir" ]; then rmdir --ignore-fail-on-non-empty "$$dir"; fi; \
	done
ifneq ($(DESTDIR),)
	@for dir in $(BINDIR) $(COMPDIR) $(HOOKDIR) $(dir $(DRACUTDIR)) $(PLUGINDIR) $(UNITDIR) $(LIBDEST)/pkgconfig $(dir $(INCDIR)) $(MANDIR)/man3 $(MANDIR)/man5 $(MANDIR)/man8; do \
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
