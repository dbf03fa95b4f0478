# SPDX-License-Identifier: MIT
#
# The tests.  Included by the Makefile where VARIANT names the variant to test.

MAKE_QUIET := $(MAKE) --no-print-directory
UNIT_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/unit/*.c))

# tests/unit/fault.c can let allocations, threads and libraries fail, whose functions are wrapped, and
# system calls, which the files of src/os/ make through functions there: src/os/crossing.h.
UNIT_OS := $(patsubst %.c,$(BUILD)/crossing/%.o,$(wildcard src/os/*.c))
$(UNIT_OS): ALL_CPPFLAGS += -DGM_CROSSING
$(UNIT_OS): $(BUILD)/crossing/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<
FAULT_WRAPS = $(shell sed -nE 's/^WRAP(_AS|_NEW|_FREE)?\([^,]*, ([a-z0-9_]+)[,)].*/\2/p' tests/unit/fault.c)
$(BUILD)/tests/unit/unit: $(UNIT_OBJ) $(UNIT_OS) $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(FAULT_WRAPS:%=-Wl,--wrap=%) -o $@ $^ $(LIBS) -lcunit

# Programs of tests/lib that system cases run.
HELPERS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/lib/orders.c tests/lib/delegated.c))
$(HELPERS): %: %.o $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# The program on a recorded host: the functions that tests/lib/recorded.c defines replace calls.
RECORDED := $(BUILD)/tests/lib/recorded
RECORDED_WRAP = $(sort $(shell grep -o '__wrap_[a-z0-9_]*' tests/lib/recorded.c))
$(RECORDED): %: %.o $(BUILD)/src/getmnt.o $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(RECORDED_WRAP:__wrap_%=-Wl,--wrap=%) -o $@ $^ $(LIBS)

# Preloaded into the program by a system case.
PRELOADED := $(BUILD)/tests/lib/nomem.so
$(PRELOADED): %.so: %.o
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -o $@ $^

# Each file of fuzz/ is a target, linked to libFuzzer in the fuzz variant, else to a driver that
# replays files.  fuzz/lib/kernel.c replaces the library's calls to os/.
FUZZ_TARGETS := $(patsubst fuzz/%.c,%,$(wildcard fuzz/*.c))
FUZZ_LIB := $(patsubst %.c,$(BUILD)/%.o,$(filter-out $(if $(filter fuzz,$(VARIANT)),%/driver.c), \
	$(wildcard fuzz/lib/*.c)))
FUZZ_WRAP = $(sort $(shell grep -o '__wrap_os_[a-z0-9_]*' fuzz/lib/kernel.c))
$(FUZZ_TARGETS:%=$(BUILD)/fuzz/%): $(BUILD)/fuzz/%: $(BUILD)/fuzz/%.o $(FUZZ_LIB) $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(FUZZ_WRAP:__wrap_%=-Wl,--wrap=%) -o $@ $^ $(LIBS)

.PHONY: fuzz-targets binaries tested unit
fuzz-targets: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%)
unit: $(BUILD)/tests/unit/unit
# What unit tests, cases and system cases run; everything that is compiled.
tested: $(BUILD)/getmnt unit $(HELPERS) $(RECORDED) $(PRELOADED)
binaries: tested $(BUILD)/libgetmnt.a $(PUBLIC) fuzz-targets

# Fault injection fails every N-th call or allocation; make distcheck fails each.
export GETMNT_FAULT_STEP ?= 20

# Three lanes on two processors: many system cases wait most of their time.
.PHONY: check
check: | $(AFTER_DEPS)
	@$(SUBMAKE) binaries
	+@build-aux/tally \
		"check-system-1: $(MAKE_QUIET) check-system PART=1/3" \
		"check-unit: $(MAKE_QUIET) check-unit" \
		-- \
		"check-system-2: $(MAKE_QUIET) check-system PART=2/3" \
		"check-cases: $(MAKE_QUIET) check-cases" \
		-- \
		"check-system-3: $(MAKE_QUIET) check-system PART=3/3" \
		"check-warnings: $(MAKE_QUIET) check-warnings" \
		"check-lib: $(MAKE_QUIET) check-lib" \
		"check-docs: $(MAKE_QUIET) check-docs" \
		"check-corpus: $(MAKE_QUIET) check-corpus" \
		"lint: $(MAKE_QUIET) lint"

.PHONY: check-unit
check-unit: $(BUILD)/tests/unit/unit
	$(BUILD)/tests/unit/unit $(UNIT)

.PHONY: check-cases
check-cases: $(BUILD)/getmnt $(RECORDED)
	tests/run.sh --getmnt $(BUILD)/getmnt $(TESTS)

.PHONY: check-system
check-system: $(BUILD)/getmnt $(HELPERS) $(PRELOADED)
	tests/system/run.sh --getmnt $(BUILD)/getmnt $(if $(PART),--part $(PART)) $(TESTS)

.PHONY: check-lib
check-lib: $(PUBLIC_SO) $(PUBLIC_A)
	tests/lib.sh '$(MAKE)' $(VARIANT)

.PHONY: check-docs
check-docs: $(BUILD)/getmnt
	tests/docs.sh $(BUILD)/getmnt

.PHONY: check-corpus
check-corpus: fuzz-targets
	fuzz/run --replay $(BUILD) $(FUZZ)

.PHONY: lint
lint: | $(AFTER_DEPS)
	build-aux/lint

# The debug variant has -Werror.  FORTIFY finds more, and so does clang, of which parsing is enough.
CLANG_FLAGS = $(shell CC=clang build-aux/cc-flags -std=gnu17 $(WARNINGS))
.PHONY: check-warnings
check-warnings: $(BUILD)/rule_texts.h | $(AFTER_DEPS)
	@$(SUBMAKE) VARIANT=release CFLAGS='$(CFLAGS) -Werror' all
	@if command -v clang >/dev/null; then \
		find src tests fuzz bench -name '*.c' ! -path 'tests/vm/*' -print0 | xargs -0 -n 16 -P $(JOBS) \
			clang $(filter-out -MMD -MP,$(ALL_CPPFLAGS)) -I $(BUILD) \
			$(CLANG_FLAGS) $(PKG_CFLAGS) -Werror -fsyntax-only; \
	else echo "skip: clang is not installed"; fi

FUZZ_CC ?= clang
fuzz: FUZZ_TIME ?= 300
# A check tries the same inputs every time; fuzzing tries new ones.
check-fuzz: FUZZ_TIME ?= 0
check-fuzz: FUZZ_SEED ?= 1
check-fuzz: FUZZ_COUNTED = --counted $(or $(FUZZ_PERCENT),100)
.PHONY: fuzz check-fuzz
fuzz check-fuzz: | $(AFTER_DEPS)
	@if fuzz/run --probe '$(FUZZ_CC)'; then \
		$(SUBMAKE) VARIANT=fuzz CC='$(FUZZ_CC)' fuzz-targets && \
		fuzz/run --time $(FUZZ_TIME) --jobs $(JOBS) --seed $(or $(FUZZ_SEED),0) $(FUZZ_COUNTED) build/fuzz $(FUZZ); \
	else \
		echo "skip: $(FUZZ_CC) has no libFuzzer; replaying the corpora instead"; \
		$(MAKE_QUIET) check-corpus; \
	fi

.PHONY: check-asan
check-asan: | $(AFTER_DEPS)
	@$(SUBMAKE) VARIANT=asan binaries
	+@build-aux/tally \
		"asan-unit: $(MAKE_QUIET) VARIANT=asan check-unit" \
		"asan-cases: $(MAKE_QUIET) VARIANT=asan check-cases" \
		"asan-corpus: $(MAKE_QUIET) VARIANT=asan check-corpus" \
		"asan-system: $(MAKE_QUIET) VARIANT=asan check-system"

.PHONY: check-tsan
check-tsan: | $(AFTER_DEPS)
	@$(SUBMAKE) VARIANT=tsan binaries
	+@build-aux/tally \
		"tsan-unit: $(MAKE_QUIET) VARIANT=tsan check-unit" \
		"tsan-corpus: $(MAKE_QUIET) VARIANT=tsan check-corpus FUZZ=statmount" \
		"tsan-threads: $(MAKE_QUIET) VARIANT=tsan check-system TESTS='$(TSAN_SYSTEM)'"
TSAN_SYSTEM := trees_large kinds search_divided search_flow search_races

# valgrind 3.19 knows neither listmount and statmount nor openat2.
VALGRIND := valgrind -q --suppressions=tests/lib/valgrind.supp --error-exitcode=99 --leak-check=full \
	--errors-for-leak-kinds=definite
.PHONY: check-valgrind check-valgrind-unit
check-valgrind check-valgrind-unit: export GETMNT_DISABLE := listmount,openat2
check-valgrind check-valgrind-unit: export GETMNT_FAULT_STEP = 100
check-valgrind-unit: $(BUILD)/tests/unit/unit
	$(VALGRIND) $(BUILD)/tests/unit/unit $(UNIT)
check-valgrind: | $(AFTER_DEPS)
	@$(SUBMAKE) binaries
	+@build-aux/tally \
		"valgrind-unit: $(MAKE_QUIET) check-valgrind-unit" \
		"valgrind-cases: tests/run.sh --valgrind --getmnt $(BUILD)/getmnt $(TESTS)" \
		"valgrind-corpus: fuzz/run --replay --wrap '$(VALGRIND)' $(BUILD)"

# The system case gprof compares the counts of the profile variant with those of the debug variant.
PROFILED := $(if $(filter x86_64 aarch64,$(shell uname -m)),$(PROFILE))
.PHONY: check-profile
check-profile: $(PROFILED) | $(AFTER_DEPS)
	+@$(SUBMAKE) check-system TESTS=gprof

# All commands without some features of the kernel, as on older ones: before 6.8, 5.8, 5.6, 5.1; and
# without all of them.
MATRIX := listmount statx-mntid openat2 uring listmount,statx-mntid,openat2,uring
comma := ,
.PHONY: check-matrix
check-matrix: $(BUILD)/getmnt $(HELPERS) $(PRELOADED) $(RECORDED)
	@build-aux/tally $(foreach m,$(MATRIX), \
		"system-without-$(subst $(comma),-,$(m)): GETMNT_DISABLE=$(m) $(MAKE_QUIET) check-system" \
		"cases-without-$(subst $(comma),-,$(m)): GETMNT_DISABLE=$(m) $(MAKE_QUIET) check-cases")

# Short cases of each command: without all these features, and on Linux 6.1 in virtual machines.
CI_MATRIX := audit_bound audit_covered audit_policy search_follow find_xdev fstab_merge index_search \
	find_random overlay_relative recover search_user verify files_mounted
CI_VM := machine audit_covered audit_expire audit_host audit_holders fstab_onto_itself \
	verify overlay_relative find_calls find_xdev search_user recover p9

# The unit suites with threads; those of the core; the system cases that reach most code for their
# time.  With ASan, all suites and cases but the longest, which take half of the time.
CI_TSAN := bfs discover layers libgetmnt profile search search_raw
CI_VALGRIND := bfs discover mounttree table tablines pattern devmap query fstab wire
CI_ASAN_SYSTEM := audit_baseline audit_bound audit_holders audit_policy \
	audit_covered blocking bare bare_root roots denied fstab_merge stands machine \
	no_proc planted recover search search_follow
ASAN_LONG := index_crash replace linediff index_counts order many recover pattern_random \
	linear search_records find_expressions options search_exec search_lines hosts \
	audit_deliver audit_forms search_sort audit_users scenarios audit_pipes audit_lost
asan_names = $(filter-out $(ASAN_LONG),$(patsubst $(1),%,$(wildcard $(subst %,*,$(1)))))
.PHONY: check-ci
check-ci: | $(AFTER_DEPS)
	@$(SUBMAKE) VARIANT=asan tested
	@$(SUBMAKE) VARIANT=tsan unit
	+@build-aux/tally \
		"asan-unit: GETMNT_FAULT_STEP=200 $(MAKE_QUIET) VARIANT=asan check-unit \
			UNIT='$(call asan_names,tests/unit/test_%.c)'" \
		"asan-cases: $(MAKE_QUIET) VARIANT=asan check-cases TESTS='$(call asan_names,tests/cases/%.sh)'" \
		"matrix: GETMNT_DISABLE=$(lastword $(MATRIX)) $(MAKE_QUIET) check-system TESTS='$(CI_MATRIX)'" \
		-- \
		"tsan-unit: $(MAKE_QUIET) VARIANT=tsan check-unit UNIT='$(CI_TSAN)'" \
		"valgrind-unit: $(MAKE_QUIET) check-valgrind-unit UNIT='$(CI_VALGRIND)'" \
		"asan-system: $(MAKE_QUIET) VARIANT=asan check-system TESTS='$(CI_ASAN_SYSTEM)'" \
		"check-deb: $(MAKE_QUIET) check-deb DEB=--once"

# Alone: emulation is slow enough without other work.
.PHONY: check-ci-vm
check-ci-vm: | $(AFTER_DEPS)
	@$(MAKE_QUIET) deps-vm
	@$(MAKE_QUIET) check-vm TESTS='$(CI_VM)'

# A target that starts lanes (see tally) or virtual machines runs alone; the others run in the lanes
# of check-tools.  distcheck runs check-fuzz.
.PHONY: check-full check-tools
check-full: export GETMNT_SCALE = full
check-full: | $(AFTER_DEPS)
	+@build-aux/tally \
		"check: $(MAKE_QUIET) check" \
		"check-tools: $(MAKE_QUIET) check-tools" \
		"check-vm: $(MAKE_QUIET) deps-vm check-vm" \
		"check-fleet: $(MAKE_QUIET) deps-fleet check-fleet"

check-tools: | $(AFTER_DEPS)
	+@build-aux/tally \
		"check-asan: GETMNT_SCALE= $(MAKE_QUIET) check-asan" \
		"check-tsan: GETMNT_SCALE= $(MAKE_QUIET) check-tsan" \
		"check-profile: $(MAKE_QUIET) check-profile" \
		"check-deb: $(MAKE_QUIET) check-deb" \
		-- \
		"check-matrix: GETMNT_SCALE= $(MAKE_QUIET) check-matrix" \
		"check-long: $(MAKE_QUIET) check-long" \
		-- \
		"check-valgrind: $(MAKE_QUIET) check-valgrind" \
		"distcheck: $(MAKE_QUIET) distcheck"

.PHONY: check-vm
check-vm: $(BUILD)/getmnt $(HELPERS)
	tests/vm/run.sh --getmnt $(BUILD)/getmnt $(TESTS)

.PHONY: check-fleet run-fleet
check-fleet run-fleet: $(BUILD)/getmnt
	$(if $(filter run-fleet,$@),GETMNT_UPDATE=1 )GETMNT_SECONDS=600 \
		tests/system/run.sh --getmnt $(BUILD)/getmnt --cases tests/fleet $(TESTS)

# SIGNALS=N sends N of each signal.
.PHONY: check-long
check-long: $(BUILD)/getmnt
	GETMNT_SIGNALS=$(or $(SIGNALS),1000) GETMNT_SECONDS=3000 \
		tests/system/run.sh --getmnt $(BUILD)/getmnt signals terminal_signals
	GETMNT_LONG=1 GETMNT_SECONDS=3000 \
		tests/system/run.sh --getmnt $(BUILD)/getmnt search_limits search_races files_races

# SOAK="SECONDS EVERY RATE" sets another length.
.PHONY: soak
soak: $(BUILD)/getmnt
	tests/soak.sh $(BUILD)/getmnt $(SOAK)

.PHONY: compare-genfstab compare-verify run-docs
compare-genfstab compare-verify run-docs: $(BUILD)/getmnt
	GETMNT_UPDATE=1 tests/system/run.sh --getmnt $(BUILD)/getmnt \
		$(if $(filter run-docs,$@),lost_fstab,$(@:compare-%=%))
