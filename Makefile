# SPDX-License-Identifier: MIT
#
# make            the program ./getmnt and the library ./libgetmnt.a
# make deps       install what building and testing need (apt); asks nothing
# make check      build and run every test (as root: real mounts as well)
# make install    install under $(DESTDIR)$(PREFIX); make uninstall undoes it
# make help       all targets and variables
#
# Variables: VARIANT=debug|release|asan|tsan|profile|gcov, CC, CFLAGS,
# LDFLAGS, DESTDIR, PREFIX (/usr/local).  Each variant builds in build/VARIANT.

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
ALL_CFLAGS = -std=gnu17 -pthread $(WARNINGS) $(VARIANT_CFLAGS_$(VARIANT)) \
	$(shell $(PKG_CONFIG) --cflags $(PKGS)) $(CFLAGS)
ALL_LDFLAGS = -pthread $(VARIANT_LDFLAGS_$(VARIANT)) $(LDFLAGS)
LIBS = $(shell $(PKG_CONFIG) --libs $(PKGS))

LIB_SRC := $(filter-out src/getmnt.c,$(wildcard src/*.c src/*/*.c))
LIB_OBJ := $(LIB_SRC:%.c=$(BUILD)/%.o)
UNIT_SRC := $(wildcard tests/unit/*.c)
UNIT_OBJ := $(UNIT_SRC:%.c=$(BUILD)/%.o)

.PHONY: all
all: $(BUILD)/getmnt $(BUILD)/libgetmnt.a
	@ln -f $(BUILD)/getmnt getmnt
	@ln -f $(BUILD)/libgetmnt.a libgetmnt.a

$(BUILD)/getmnt: $(BUILD)/src/getmnt.o $(BUILD)/libgetmnt.a
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libgetmnt.a: $(LIB_OBJ)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(BUILD)/tests/unit/unit: $(UNIT_OBJ) $(BUILD)/libgetmnt.a
	$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -lcunit

.PHONY: clean
clean:
	rm -rf build getmnt libgetmnt.a gmon.out

-include $(shell [ -d $(BUILD) ] && find $(BUILD) -name '*.d')
