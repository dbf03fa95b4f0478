# SPDX-License-Identifier: MIT
#
# make            build the program (./getmnt) and the library
# make install    install below $(DESTDIR)$(PREFIX); make uninstall removes it
# make deps       install the packages that building and testing need (apt)
# make check      build the debug variant and run the tests: 5 minutes, root for real mounts
# make clean      remove everything that was built
# make help       print this text
#
# Parts of make check.  TESTS='PATTERN...' or UNIT='SUITE...' selects some of the tests:
#   check-unit       unit tests (CUnit)
#   check-cases      the command line on recorded tables, compared with golden output
#   check-system     real mounts in private mount namespaces; needs root
#   check-lib        the installed library: symbols, header, examples
#   check-docs       --help, man pages and completion list the same options
#   check-corpus     replay the fuzz corpora and past findings
#   check-warnings   the release variant by $(CC) and every source by clang, without a warning
#   lint             include rules, shellcheck, mandoc, Python syntax, white space
#
# More tests (tests/README.md says what runs where):
#   check-ci         the second part of .ci/run: sanitizers, valgrind, packages
#   check-ci-vm      the third part: chosen cases on Linux 6.1 in virtual machines
#   check-full       everything: 2.5 hours
#   check-asan, check-tsan, check-valgrind
#   check-long       a thousand of each signal, searches of a million entries, races
#   check-matrix     the system cases and those on recorded tables without features of new kernels
#   check-vm         a stock kernel in two virtual machines (after make deps-vm)
#   check-fleet      hosts in namespaces and the tools of docs/FLEET.md (after make deps-fleet)
#   check-deb        build the Debian packages twice; install, use and remove them in a chroot;
#                    DEB=--once builds once, without tests
#   check-fuzz       the number of inputs that fuzz/runs gives each target
#   fuzz             fuzz each parser for FUZZ_TIME=300 seconds; FUZZ='TARGET...' selects some
#   soak             one hour next to hung file systems in a storm of mounts
#   distcheck        build, test, install and uninstall the files that git tracks
#   deb              Debian packages of the commit at HEAD, in build/deb
#
# Measurements and the pages they update:
#   bench            cost of each algorithm; BENCH=--quick for one minute (make deps-bench)
#   growth           calls, time and memory by the number of mounts: docs/growth
#   study            Smith's experiment of 1988: docs/STUDY.md
#   profile          a program for gprof, build/profile/getmnt; a run writes gmon.out
#   profile-report   gprof of each algorithm: docs/PROFILE.md; TREE=DIR prints that of a directory
#   profile-page, profile-layers
#                    calls and time of each algorithm, and time by layer: docs/PROFILE.md
#   compare-genfstab, compare-verify, run-docs, run-fleet
#                    the output shown in docs/GENFSTAB.md, VERIFY.md, LOST-FSTAB.md, FLEET.md
#
# Variables: VARIANT=release|debug|asan|tsan|profile|gcov|fuzz|plain, each built in
# build/VARIANT (plain adds no flags of its own); CC, CFLAGS, LDFLAGS, DESTDIR,
# PREFIX=/usr/local, LIBDIR=$(PREFIX)/lib; JOBS=N compiles N files at a time; V=1 shows the
# commands; WERROR= lets the debug variant compile with warnings.
# Environment: GETMNT_REQUIRE_ROOT=1 fails without root; GETMNT_SCALE=full runs the
# large sizes of check-full.

VERSION := 0.1.0
# The shared library: ABI.ADDITIONS.FIXES.  include/getmnt/getmnt.h says what may change.
LIB_ABI := 0
LIB_VERSION := $(LIB_ABI).1.0
VARIANT ?= release
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
CC ?= cc
AR ?= ar
OBJCOPY ?= objcopy
STRIP ?= strip
PKG_CONFIG ?= pkg-config

PKGS := mount blkid smartcols jansson libzstd
BUILD := build/$(VARIANT)

WERROR ?= -Werror
VARIANT_CFLAGS_debug = -O2 -g $(WERROR)
VARIANT_CFLAGS_release := -O2 -g -DNDEBUG -D_FORTIFY_SOURCE=2 -fstack-protector-strong
VARIANT_LDFLAGS_release := -Wl,-z,relro,-z,now
VARIANT_PIE_release := -pie
VARIANT_CFLAGS_asan := -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
VARIANT_LDFLAGS_asan := -fsanitize=address,undefined
VARIANT_CFLAGS_tsan := -O1 -g -fno-omit-frame-pointer -fsanitize=thread
VARIANT_LDFLAGS_tsan := -fsanitize=thread
VARIANT_CFLAGS_fuzz := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
VARIANT_LDFLAGS_fuzz := -fsanitize=fuzzer,address,undefined
# For gprof: no cloned, merged or split functions; each system call is a function of its own
# (src/os/crossing.h).  Addresses are those of the file: no PIE.
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

# xxHash is compiled in from its header, so that no command loads its library.
ALL_CPPFLAGS = -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -DXXH_INLINE_ALL -DGETMNT_VERSION='"$(VERSION)"' \
	-iquote src -iquote include -MMD -MP $(CPPFLAGS)
# The same objects make the program and the shared library; each function is a section, so
# that the linker drops what the library does not use.
ALL_CFLAGS = -pthread -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections \
	$(CC_FLAGS) $(VARIANT_CFLAGS_$(VARIANT)) $(PKG_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pthread $(VARIANT_LDFLAGS_$(VARIANT)) $(LDFLAGS)
LIBS = $(PKG_LIBS)

# Evaluated once, on first use: "make deps all" installs pkg-config and the compiler first.
# Flags that the compiler does not know are left out.
PKG_CFLAGS = $(eval PKG_CFLAGS := $$(shell $(PKG_CONFIG) --cflags $(PKGS)))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $$(shell $(PKG_CONFIG) --libs $(PKGS)))$(PKG_LIBS)
CC_FLAGS = $(eval CC_FLAGS := $$(shell CC='$(CC)' build-aux/cc-flags -std=gnu17 $(WARNINGS)))$(CC_FLAGS)

PROFILE := build/profile/getmnt

# With deps among the goals, everything else waits for it.
AFTER_DEPS := $(if $(filter deps,$(MAKECMDGOALS)),deps)
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-5s %s\n' '$(1)' '$@')
# Starts a jobserver unless make already runs one.
SUBMAKE = $(MAKE) --no-print-directory $(if $(findstring --jobserver,$(MAKEFLAGS)),,-j$(JOBS))

LIB_SRC := $(filter-out src/getmnt.c,$(sort $(wildcard src/*.c src/*/*.c src/*/*/*.c)))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
# The public library is everything except the commands, and the index, which needs libraries.
PUBLIC_OBJ := $(filter-out $(BUILD)/src/cmd/% $(BUILD)/src/index/%,$(LIB_OBJ))
PUBLIC_SO := $(BUILD)/lib/libgetmnt.so.$(LIB_VERSION)
PUBLIC_A := $(BUILD)/lib/libgetmnt.a
PUBLIC := $(if $(filter asan tsan gcov fuzz profile,$(VARIANT)),,$(PUBLIC_SO) $(PUBLIC_A))

.PHONY: all
all: $(BUILD)/getmnt $(BUILD)/libgetmnt.a $(PUBLIC)
ifneq ($(PUBLIC),)
	@ln -f $(BUILD)/getmnt getmnt
	@ln -f $(PUBLIC_A) libgetmnt.a
endif

$(BUILD)/getmnt: $(BUILD)/src/getmnt.o $(BUILD)/libgetmnt.a
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(VARIANT_PIE_$(VARIANT)) -o $@ $^ $(LIBS)

# Everything except main(), for the program and the tests.
$(BUILD)/libgetmnt.a: $(LIB_OBJ)
	@rm -f $@
	$(call say,AR)
	$(Q)$(AR) rcs $@ $^

# --gc-sections drops what no public function calls, with it libmount and libblkid.
# nodelete: after dlclose(3), threads of an open search may still run in the library.
$(PUBLIC_SO): $(PUBLIC_OBJ) src/lib/libgetmnt.map
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -Wl,-soname,libgetmnt.so.$(LIB_ABI) \
		-Wl,--version-script=src/lib/libgetmnt.map -Wl,--gc-sections -Wl,-z,defs -Wl,-z,nodelete -o $@ $(PUBLIC_OBJ)

# One object that exports the public functions only: a program may define os_open() itself.
$(PUBLIC_A): $(PUBLIC_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(call say,AR)
	$(Q)$(CC) -r -nostdlib -Wl,--gc-sections,--gc-keep-exported,-u,getmnt_new \
		-o $(@D)/getmnt.o $(PUBLIC_OBJ)
	$(Q)$(OBJCOPY) --localize-hidden $(@D)/getmnt.o
	$(Q)$(AR) rcs $@ $(@D)/getmnt.o

# The texts of getmnt audit --explain are those of the manual.
$(BUILD)/rule_texts.h: man/getmnt-audit.8 build-aux/rule-texts
	@mkdir -p $(@D)
	$(Q)build-aux/rule-texts $< >$@.new && mv $@.new $@

$(BUILD)/src/cmd/audit/out.o: ALL_CPPFLAGS += -I $(BUILD)
$(BUILD)/src/cmd/audit/out.o: $(BUILD)/rule_texts.h

# Flags are in this file.
$(BUILD)/%.o: %.c Makefile | $(AFTER_DEPS)
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

.PHONY: FORCE
FORCE:

# Tests need assertions: unless VARIANT is set, these goals use the debug variant.
CHECKS := binaries fuzz-targets check check-unit check-cases check-system check-lib check-docs \
	check-corpus check-warnings check-asan check-tsan check-valgrind check-valgrind-unit \
	check-profile check-ci check-ci-vm check-full check-tools check-matrix check-vm check-fleet check-long fuzz check-fuzz soak \
	lint compare-genfstab compare-verify run-docs run-fleet
ifeq ($(origin VARIANT),file)
.PHONY: $(CHECKS) run-checks
$(CHECKS): run-checks ;
run-checks: | $(AFTER_DEPS)
	+@$(MAKE) --no-print-directory VARIANT=debug $(filter $(CHECKS),$(MAKECMDGOALS))
else
include build-aux/checks.mk
endif

.PHONY: deps deps-bench deps-vm deps-fleet
deps:
	@build-aux/deps
deps-bench:
	@build-aux/deps bench
deps-vm:
	@build-aux/deps vm
deps-fleet:
	@build-aux/deps fleet

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

profile-report: $(PROFILE)
	@bench/profile_report.py --getmnt $(PROFILE) $(if $(TREE),-- "$$TREE",--update docs/PROFILE.md)

.PHONY: distcheck
distcheck:
	build-aux/distcheck '$(MAKE)' getmnt-$(VERSION)

.PHONY: deb check-deb
deb:
	build-aux/deb
check-deb:
	tests/deb.sh $(DEB) '$(MAKE)'

.PHONY: bench
bench: $(BUILD)/getmnt
	bench/run --getmnt $(BUILD)/getmnt $(BENCH)

.PHONY: study
study: $(BUILD)/getmnt
	bench/study.py --real --getmnt $(BUILD)/getmnt --write docs/STUDY.md

# tmpfs lists directories in the same order each time, so that call counts are exact.
.PHONY: growth
growth: $(BUILD)/getmnt
	bench/run --getmnt $(BUILD)/getmnt --part growth --fs tmpfs --plot docs/growth $(BENCH)

.PHONY: profile-page
profile-page: $(BUILD)/getmnt
	bench/profile_page.py --getmnt $(BUILD)/getmnt --update docs/PROFILE.md

# TRIES=N: repeat N times and keep the run that waited least for a processor.
.PHONY: profile-layers
profile-layers: $(BUILD)/getmnt
	bench/layers.py --getmnt $(BUILD)/getmnt --update docs --tries $(or $(TRIES),5)

SHAREDIR := $(DESTDIR)$(PREFIX)/share
BINDIR := $(DESTDIR)$(PREFIX)/bin
LIBDEST := $(DESTDIR)$(LIBDIR)
INCDIR := $(DESTDIR)$(PREFIX)/include/getmnt
MANDIR := $(SHAREDIR)/man
DOCDIR := $(SHAREDIR)/doc/getmnt
# Completion for bash and zsh; Debian's zsh reads another folder below /usr.
BASHDIR := $(SHAREDIR)/bash-completion/completions
ZSHPATH ?= $(PREFIX)/share/zsh/site-functions
ZSHDIR = $(DESTDIR)$(ZSHPATH)
# Read by initramfs-tools, dracut and Nagios if PREFIX is /usr.
HOOKDIR := $(SHAREDIR)/initramfs-tools/hooks
DRACUTDIR := $(DESTDIR)$(PREFIX)/lib/dracut/modules.d/95getmnt
PLUGINDIR := $(DESTDIR)$(PREFIX)/lib/nagios/plugins
# The units of systemd are installed disabled.
UNITPATH ?= $(PREFIX)/lib/systemd/system
UNITDIR = $(DESTDIR)$(UNITPATH)
UNITS := getmnt-audit.service getmnt-audit.timer getmnt-watch.service getmnt-index-update.service \
	getmnt-index-update.timer getmnt-index-watch.service
HEADERS := $(wildcard include/getmnt/*.h)
MANPAGES := $(wildcard man/*.[1-8])
# Each public function has a page of its own, or one that includes the page that describes it.
API = $(filter-out getmnt_search_open,$(shell sed -n 's/^[[:blank:]]*\([a-z0-9_]*\);$$/\1/p' src/lib/libgetmnt.map))
STRIPPED := $(filter release,$(VARIANT))

.PHONY: install
install: $(BUILD)/getmnt $(PUBLIC_SO) $(PUBLIC_A)
	install -d $(BINDIR) $(BASHDIR) $(ZSHDIR) $(LIBDEST)/pkgconfig $(INCDIR) $(DOCDIR)
	install -d $(MANDIR)/man3 $(MANDIR)/man5 $(MANDIR)/man8 $(HOOKDIR) $(DRACUTDIR) $(PLUGINDIR) $(UNITDIR)
	install -m 755 $(BUILD)/getmnt $(BINDIR)/getmnt
	$(if $(STRIPPED),$(STRIP) $(BINDIR)/getmnt)
	install -m 644 $(PUBLIC_A) $(PUBLIC_SO) $(LIBDEST)
	$(if $(STRIPPED),$(STRIP) --strip-debug $(addprefix $(LIBDEST)/,$(notdir $(PUBLIC_A) $(PUBLIC_SO))))
	ln -sf $(notdir $(PUBLIC_SO)) $(LIBDEST)/libgetmnt.so.$(LIB_ABI)
	ln -sf libgetmnt.so.$(LIB_ABI) $(LIBDEST)/libgetmnt.so
	install -m 644 $(HEADERS) $(INCDIR)
	sed -e 's|@prefix@|$(PREFIX)|; s|@libdir@|$(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))|' \
		-e 's|@includedir@|$${prefix}/include|; s|@version@|$(VERSION)|' \
		contrib/libgetmnt.pc.in >$(LIBDEST)/pkgconfig/libgetmnt.pc
	chmod 644 $(LIBDEST)/pkgconfig/libgetmnt.pc
	install -m 644 contrib/completion/getmnt $(BASHDIR)/getmnt
	ln -sf getmnt $(BASHDIR)/check_getmnt
	install -m 644 contrib/completion/_getmnt $(ZSHDIR)/_getmnt
	install -m 644 contrib/audit.conf $(DOCDIR)/audit.conf
	install -m 755 contrib/initramfs-tools/hooks/getmnt $(HOOKDIR)/getmnt
	install -m 755 contrib/dracut/95getmnt/module-setup.sh $(DRACUTDIR)/module-setup.sh
	ln -sf ../../../bin/getmnt $(PLUGINDIR)/check_getmnt
	set -e; $(foreach unit,$(UNITS),sed 's|/usr/bin/getmnt|$(PREFIX)/bin/getmnt|' \
		contrib/systemd/$(unit) >$(UNITDIR)/$(unit); chmod 644 $(UNITDIR)/$(unit);)
	set -e; $(foreach page,$(MANPAGES),install -m 644 $(page) $(MANDIR)/man$(subst .,,$(suffix $(page)));)
	set -e; $(foreach name,$(API),echo '.so man3/$(if $(filter getmnt_search_%,$(name)),getmnt_search_open,getmnt).3' \
		>$(MANDIR)/man3/$(name).3; chmod 644 $(MANDIR)/man3/$(name).3;)
	echo '.so man8/getmnt-audit.8' >$(MANDIR)/man8/check_getmnt.8
	chmod 644 $(MANDIR)/man8/check_getmnt.8

# Other directories may have existed before; below DESTDIR, empty ones are removed.
.PHONY: uninstall
uninstall:
	rm -f $(BINDIR)/getmnt $(addprefix $(BASHDIR)/,getmnt check_getmnt) $(ZSHDIR)/_getmnt $(DOCDIR)/audit.conf $(HOOKDIR)/getmnt \
		$(DRACUTDIR)/module-setup.sh $(PLUGINDIR)/check_getmnt $(addprefix $(UNITDIR)/,$(UNITS)) \
		$(patsubst include/getmnt/%,$(INCDIR)/%,$(HEADERS)) \
		$(addprefix $(LIBDEST)/,libgetmnt.a libgetmnt.so libgetmnt.so.$(LIB_ABI) $(notdir $(PUBLIC_SO))) \
		$(LIBDEST)/pkgconfig/libgetmnt.pc $(API:%=$(MANDIR)/man3/%.3) $(MANDIR)/man8/check_getmnt.8 \
		$(foreach page,$(MANPAGES),$(MANDIR)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
	@for dir in $(INCDIR) $(DRACUTDIR) $(DOCDIR); do \
		if [ -d "$$dir" ]; then rmdir --ignore-fail-on-non-empty "$$dir"; fi; \
	done
ifneq ($(DESTDIR),)
	@for dir in $(BINDIR) $(BASHDIR) $(ZSHDIR) $(HOOKDIR) $(dir $(DRACUTDIR)) $(PLUGINDIR) $(UNITDIR) \
		$(LIBDEST)/pkgconfig $(dir $(INCDIR)) $(dir $(DOCDIR)) $(MANDIR)/man3 $(MANDIR)/man5 $(MANDIR)/man8; do \
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
