#!/bin/bash
# SPDX-License-Identifier: MIT
#
# lib.sh MAKE VARIANT   test the library as installed
#
# Installs into a temporary directory and checks the exported symbols, that header, linker
# script and man pages name the same functions, that the examples compile, link both ways and
# print the right answer, and that uninstalling removes what was installed and nothing else.
set -u
cd "$(dirname "$0")/.." || exit 1
make=$1 variant=$2 build=build/$2
passed=0 failed=0 skipped=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: "${CC:=cc}"

# check NAME COMMAND...: a test; what the command prints is shown if it fails.
check()
{
	local name=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
		echo "ok   $name"
	else
		failed=$((failed + 1))
		sed 's/^/  /' "$work/log"
		echo "FAIL $name"
	fi
}

# Compiler warnings are failures.
compile()
{
	"$CC" -O1 -Wall -Wextra -Werror "$@"
}

config()
{
	PKG_CONFIG_LIBDIR=$work/usr/lib/pkgconfig "${PKG_CONFIG:-pkg-config}" "$@" libgetmnt
}

run_make()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL "$make" --no-print-directory VARIANT="$variant" "$@"
}

# same FILE FILE: sorted lists of words, neither of them empty.
same()
{
	[ -s "$1" ] && diff "$1" "$2"
}

# Everything that there is below a directory.
survey()
{
	(cd "$1" && find . ! -type d -printf '%p %l\n' | sort)
}

check "install" run_make install PREFIX="$work/usr"
lib=$work/usr/lib

# The same functions everywhere, each with our prefix.
api='(getmnt_[a-z0-9_]+)'
sed -nE "s/^[[:blank:]]*$api;\$/\\1/p" src/lib/libgetmnt.map | sort >"$work/map"
for header in getmnt search; do
	"$CC" -E -P -x c "$work/usr/include/getmnt/$header.h" | tr '\n' ' ' |
		grep -oE "\b$api *\(" | tr -d ' ('
done | sort -u >"$work/header"
nm -D --defined-only "$lib/libgetmnt.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort >"$work/so"
nm -g --defined-only "$lib/libgetmnt.a" | awk 'NF == 3 { print $3 }' | sort >"$work/a"
for page in man/*.3; do
	sed -n '/^\.SH NAME/{n;p}' "$page" | sed 's/ \\-.*//' | tr -d ' ' | tr ',' '\n'
done | sort >"$work/names"
grep '^getmnt_' "$work/names" >"$work/name"
for page in man/*.3; do
	sed -n '/^\.SH SYNOPSIS/,/^\.SH DESC/p' "$page" | grep -oE "\b$api\(" | tr -d '('
done | sort >"$work/synopsis"
for list in header so a name synopsis; do
	check "functions: $list" same "$work/map" "$work/$list"
done

# The inline functions of the paper, and their manual page.
grep -v '^getmnt_' "$work/names" >"$work/paper_name"
sed -nE 's/^static inline .*[ *](opensearch|readsearch|closesearch|search)\(.*/\1/p' \
	include/getmnt/search_paper.h | sort >"$work/paper_header"
check "functions of the paper" same "$work/paper_header" "$work/paper_name"

# Each is described, and has a page of its own name.
pages()
{
	local name bad=0
	while read -r name; do
		if [ ! -f "$work/usr/share/man/man3/$name.3" ] || ! grep -qh "^\.BR $name ()" man/*.3; then
			echo "$name"
			bad=1
		fi
	done <"$work/map"
	return $bad
}
check "functions: pages" pages

# Numbers of the header are in the manual too.
constants()
{
	grep -ohE '\b(GETMNT|SEARCH)_[A-Z]+(_[A-Z0-9_]+)?' include/getmnt/*.h | grep -v '_H$' | sort -u |
		while read -r name; do
			cat man/*.3 | grep -qw "$name" || echo "$name"
		done >"$work/missing"
	cat "$work/missing"
	[ ! -s "$work/missing" ]
}
check "constants: in the manual" constants

members()
{
	"$CC" -E -P -x c include/getmnt/getmnt.h | sed -n '/^struct getmnt_mount {/,/^};/p' |
		grep -oE '[a-z_0-9]+( *,[^;]*)?;' | tr -d ' ;' | tr ',' '\n' >"$work/members"
	[ "$(wc -l <"$work/members")" -gt 20 ] || { cat "$work/members"; return 1; }
	local name bad=0
	while read -r name; do
		grep -qE "^\.I.*\b$name\b" man/getmnt.3 || { echo "$name"; bad=1; }
	done <"$work/members"
	return $bad
}
check "members: in the manual" members

# What a program needs at run time: the C library alone.
needs()
{
	readelf -d "$lib/libgetmnt.so" >"$work/dynamic" || return 1
	grep -q 'SONAME.*\[libgetmnt\.so\.0\]' "$work/dynamic" || { cat "$work/dynamic"; return 1; }
	if grep NEEDED "$work/dynamic" | grep -v '\[libc\.so\|\[ld-linux\|\[libpthread\.so'; then
		return 1
	fi
	! grep TEXTREL "$work/dynamic"
}
check "soname, and no library but libc" needs

# The header alone, in any C and in C++.
printf '#include <getmnt/%s.h>\n' getmnt search search_paper >"$work/header.c"
for standard in c99 c11 gnu17; do
	check "header: $standard" compile -std=$standard -pedantic -fsyntax-only \
		-I "$work/usr/include" "$work/header.c"
done
if command -v g++ >/dev/null; then
	cat >"$work/header.cc" <<-'CC'
		#include <getmnt/getmnt.h>
		int main()
		{
			getmnt *gm = getmnt_new();
			int bad = getmnt_set(gm, GETMNT_OPT_NAMES, GETMNT_NAMES_KERNEL);
			getmnt_free(gm);
			return bad;
		}
	CC
	check "header: C++" g++ -std=c++11 -Wall -Wextra -Werror -pedantic -I "$work/usr/include" \
		"$work/header.cc" -o "$work/cc" "$lib/libgetmnt.a" -pthread
	check "header: C++, run" "$work/cc"
else
	skipped=$((skipped + 1))
	echo "skip header: C++: there is no g++"
fi

# The example, which is the manual's.
example=contrib/examples/mounts.c
of_manual()
{
	sed -n '/^\.EX$/,/^\.EE$/p' man/getmnt.3 | sed '1d;$d; s/^\\&//; s/\\-/-/g; s/\\e/\\/g' >"$work/manual.c"
	sed '1d; s/\t/    /g' $example | diff "$work/manual.c" -
}
check "example: in the manual" of_manual
# Those of README and header, which are pieces of a main().
piece()
{
	{
		echo '#include <getmnt/getmnt.h>'
		echo '#include <stdio.h>'
		echo 'int main(void) {'
		cat
		echo 'return 0; }'
	} >"$work/piece.c"
	[ "$(wc -l <"$work/piece.c")" -gt 10 ] || { cat "$work/piece.c"; return 1; }
	# shellcheck disable=SC2046
	compile "$work/piece.c" -o "$work/piece" $(config --cflags --libs) &&
		LD_LIBRARY_PATH=$lib "$work/piece" | grep -q '^/ '
}
# shellcheck disable=SC2016
of_readme() { sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' | piece; }
of_header() { sed -n '/^ \*     struct getmnt \*gm/,/^ \*$/p' include/getmnt/getmnt.h | sed '$d; s/^ \*//' | piece; }
check "example: of README" of_readme
check "example: of the header" of_header

# shellcheck disable=SC2046
{
	check "example: shared" compile -std=c11 $example -o "$work/shared" $(config --cflags --libs)
	check "example: static" compile -std=c11 $example -o "$work/static" $(config --cflags) \
		"$lib/libgetmnt.a" -pthread
	check "example: wholly static" compile -std=c11 -static $example -o "$work/whole" \
		$(config --static --cflags --libs)
}
check "pkg-config: version" [ "$(config --modversion)" = "$(sed -n 's/^VERSION := //p' Makefile)" ]

# What it prints, by the kernel: each mount point once for each mount.
cut -d ' ' -f 5 /proc/self/mountinfo | while IFS= read -r point; do
	printf '%b\n' "${point//\\/\\0}"
done | sort >"$work/expected"
truth()
{
	"$@" >"$work/out" || return 1
	sed 's/ [a-z]*\( by .*\)\{0,1\}$//' "$work/out" | sort | diff "$work/expected" - || return 1
	grep -qE '^/ (ok|untested|hidden)' "$work/out" || { cat "$work/out"; return 1; }
}
check "example: shared, run" truth env LD_LIBRARY_PATH="$lib" "$work/shared"
check "example: static, run" truth "$work/static"
check "example: wholly static, run" truth "$work/whole"

# A program that has functions of the names that are used within.
clash()
{
	nm -g --defined-only "$build/libgetmnt.a" | awk '$2 == "T" { print $3 }' | sort -u |
		grep -vE "^$api\$" >"$work/within"
	[ "$(wc -l <"$work/within")" -gt 100 ] || return 1
	sed 's/.*/void &(void); void &(void) { __builtin_trap(); }/' "$work/within" >"$work/clash.c"
	# shellcheck disable=SC2046
	compile -Wno-builtin-declaration-mismatch $example "$work/clash.c" -o "$work/clash" \
		$(config --cflags) "$lib/libgetmnt.a" -pthread && truth "$work/clash" || return 1
	# shellcheck disable=SC2046
	compile -Wno-builtin-declaration-mismatch -rdynamic $example "$work/clash.c" -o "$work/clash" \
		$(config --cflags --libs) && truth env LD_LIBRARY_PATH="$lib" "$work/clash"
}
check "no clash of names" clash

# Threads of a search that was left open run on after dlclose(3).
unloaded()
{
	cat >"$work/unloaded.c" <<-'CC'
		#include <getmnt/search.h>
		#include <dlfcn.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			static const char *const roots[] = {"/usr"};
			struct search_options options = {.size = sizeof(options), .threads = 4};
			void *lib = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
			if (!lib)
				return 1;
			#define GET(name) ((__typeof__(getmnt_search_##name) *)dlsym(lib, "getmnt_search_" #name))
			__typeof__(getmnt_search_open) *begin = GET(open);
			__typeof__(getmnt_search_read) *next = GET(read);
			__typeof__(getmnt_search_count) *count = GET(count);
			struct search_counts counts = {0};
			struct getmnt_search *search = begin(roots, 1, "*", &options);
			while (search && counts.threads < 2) {
				if (!next(search))
					return 2;
				count(search, &counts, sizeof(counts));
			}
			if (dlclose(lib) != 0)
				return 3;
			usleep(200000);
			return 0;
		}
	CC
	compile "$work/unloaded.c" -I "$work/usr/include" -o "$work/unloaded" -ldl &&
		"$work/unloaded" "$lib/libgetmnt.so"
}
check "dlclose during a search" unloaded

# The functions of the paper are inline: another file of a program may define functions of these names.
paper()
{
	cat >"$work/own.c" <<-'CC'
		int search(void);
		int search(void)
		{
			return 42;
		}
	CC
	cat >"$work/paper.c" <<-'CC'
		#include <getmnt/search_paper.h>
		int main(void)
		{
			uint64_t buffer[512];
			SEARCH *s = opensearch("/", "/etc", SEARCH_INCLUDEROOT);
			struct searchent *e = s ? readsearch(s) : 0;
			int bad = !e || e->err != 0 || strcmp(e->path, "/etc") != 0;
			bad |= search("/", "/etc", 0, buffer, sizeof(buffer)) != 1;
			bad |= strcmp(search_path(search_next(buffer, sizeof(buffer), 0)), "/etc") != 0;
			return closesearch(s) != 0 || bad;
		}
	CC
	local compiler
	for compiler in "$CC -O1" "g++ -x c++"; do
		command -v "${compiler%% *}" >/dev/null || continue
		# shellcheck disable=SC2046,SC2086
		$compiler -Wall -Wextra -Werror -c "$work/paper.c" -o "$work/paper.o" $(config --cflags) &&
			compile "$work/own.c" "$work/paper.o" -o "$work/paper" "$lib/libgetmnt.a" -pthread -lstdc++ &&
			"$work/paper" || return 1
	done
	# shellcheck disable=SC2046
	compile "$work/paper.c" "$work/own.c" -o "$work/paper" $(config --cflags --libs) -pthread &&
		LD_LIBRARY_PATH="$lib" "$work/paper"
}
check "the functions of the paper, in C and C++" paper

# From Python, by ctypes: paths and types of objects, and the reason why an expression is refused.
python()
{
	mkdir -p "$work/py/d" && : >"$work/py/d/f.c" && : >"$work/py/g.c"
	python3 - "$lib/libgetmnt.so" "$work/py" <<-'PY'
		import ctypes as c
		import sys

		class Options(c.Structure):
		    _fields_ = [("size", c.c_size_t), ("flags", c.c_int), ("threads", c.c_uint), ("depth", c.c_uint),
		                ("blocking", c.c_bool), ("engine", c.c_int), ("ahead", c.c_bool),
		                ("reserved", c.c_ubyte * 3), ("exclude", c.c_char_p), ("query", c.c_char_p),
		                ("transport", c.c_void_p), ("why", c.c_void_p), ("why_size", c.c_size_t)]

		class Entry(c.Structure):
		    _fields_ = [("path", c.c_char_p), ("info", c.c_void_p), ("errsource", c.c_int), ("err", c.c_int),
		                ("root", c.c_size_t), ("below", c.c_char_p), ("type", c.c_ubyte)]

		lib = c.CDLL(sys.argv[1], use_errno=True)
		lib.getmnt_search_open.restype = c.c_void_p
		lib.getmnt_search_read.restype = c.POINTER(Entry)
		roots = (c.c_char_p * 1)(sys.argv[2].encode())
		why = c.create_string_buffer(200)

		def search(pattern, query):
		    options = Options(size=c.sizeof(Options), query=query, why=c.addressof(why), why_size=len(why))
		    return lib.getmnt_search_open(roots, c.c_size_t(1), pattern, c.byref(options))

		found = set()
		handle = search(b"*.c", b"-type f")
		while entry := lib.getmnt_search_read(c.c_void_p(handle)):
		    found.add((entry[0].below, entry[0].type, entry[0].err))
		lib.getmnt_search_close(c.c_void_p(handle))
		assert found == {(b"d/f.c", 8, 0), (b"g.c", 8, 0)}, found
		assert why.value == b"", why.value
		assert not search(b"*", b"-sise 3") and why.value.startswith(b'unknown primary "-sise"'), why.value
		assert not search(b"a[", None) and b"pattern" in why.value and b"byte 1" in why.value, why.value
	PY
}
check "the search from Python" python

# Uninstalling takes what was installed, and nothing of others'.
stage=$work/stage
mkdir -p "$stage/usr/lib/pkgconfig" "$stage/usr/include/getmnt" "$stage/usr/share/man/man3"
touch "$stage/usr/lib/libgetmnt-other.so" "$stage/usr/lib/pkgconfig/other.pc" \
	"$stage/usr/include/getmnt/other.h" "$stage/usr/share/man/man3/getmnt_other.3"
survey "$stage" >"$work/before"
exact()
{
	run_make install DESTDIR="$stage" PREFIX=/usr LIBDIR=/usr/lib || return 1
	[ "$(survey "$stage" | wc -l)" -gt 20 ] || return 1
	if grep -rlF "$stage" "$stage"; then return 1; fi
	run_make uninstall DESTDIR="$stage" PREFIX=/usr LIBDIR=/usr/lib || return 1
	survey "$stage" | diff "$work/before" -
}
check "uninstall: others' files stay" exact
all_gone()
{
	run_make uninstall PREFIX="$work/usr" || return 1
	survey "$work/usr" | diff /dev/null - && [ ! -e "$work/usr/include/getmnt" ]
}
check "uninstall: ours go" all_gone

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
