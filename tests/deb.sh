#!/bin/bash
# SPDX-License-Identifier: MIT
#
# deb.sh [--once] MAKE   build, install, use and remove the Debian packages
#
# Builds them by `make deb`, and again in another directory, as an ordinary user and without
# tests: the bytes must be the same.  With --once, builds them once, without tests.  Then installs
# them in a copy of a small system made by debootstrap (kept in build/deb-chroot), uses program,
# man pages, completion and library, and removes them: the files must be those from before.  All
# mounts are in a private mount namespace.
#
# check() calls the functions that seem unreachable.
# shellcheck disable=SC2317
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD
cache=$top/build/deb-chroot
once=
if [ "$1" = --once ]; then
	once=1
	shift
fi
make=$1
passed=0 failed=0 skipped=0

# Packages of the system to install in; the last one has a genfstab of its own.
tools=(bash-completion gcc libc6-dev man-db pkg-config zsh arch-install-scripts)

# check NAME COMMAND...: a test; what the command prints is shown if it fails.
check()
{
	local name=$1
	shift
	if "$@" >"$work/log" 2>&1; then
		passed=$((passed + 1))
		echo "ok   $name"
		return 0
	fi
	failed=$((failed + 1))
	tail -n 100 "$work/log" | sed 's/^/  /'
	echo "FAIL $name"
	return 1
}

skip()
{
	skipped=$((skipped + 1))
	echo "skip $1: ${*:2}"
}

finish()
{
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" -eq 0 ]
	exit
}

run_make()
{
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u DEB_BUILD_OPTIONS "$make" --no-print-directory "$@"
}

# Building.

build_once()
{
	run_make ${once:+DEB_BUILD_OPTIONS=nocheck} deb >"$work/first.log" 2>&1 ||
		{ cat "$work/first.log"; return 1; }
	local package
	for package in getmnt getmnt-dbgsym getmnt-genfstab libgetmnt0 libgetmnt0-dbgsym libgetmnt-dev; do
		compgen -G "build/deb/${package}_*.deb" || { echo "no package $package"; return 1; }
	done
	# The unit tests and cases run during the build.
	[ -n "$once" ] || [ "$(grep -c '^[0-9]* passed, 0 failed' "$work/first.log")" -eq 2 ]
}

# Another directory, an ordinary user, no tests.
build_again()
{
	local as=()
	if [ -e .git ]; then
		git clone -q --no-hardlinks "$top" "$work/again" || return 1
	else
		mkdir "$work/again"
		tar --exclude ./build -cf - . | tar -C "$work/again" -xf - || return 1
	fi
	if [ "$(id -u)" -eq 0 ]; then
		chown -R 65534:65534 "$work/again"
		as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	fi
	(cd "$work/again" && umask 077 &&
		"${as[@]}" env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u XDG_RUNTIME_DIR HOME="$work/again" \
			TZ=Asia/Kolkata LC_ALL=C DEB_BUILD_OPTIONS=nocheck "$make" deb) >"$work/again.log" 2>&1 ||
		{ cat "$work/again.log"; return 1; }
}

same_bytes()
{
	local file n=0 bad=0
	for file in build/deb/*.deb build/deb/*.tar.* build/deb/*.dsc; do
		n=$((n + 1))
		cmp "$file" "$work/again/$file" || bad=1
	done
	[ "$n" -ge 8 ] || { echo "only $n files"; return 1; }
	return "$bad"
}

hardened()
{
	local file
	for file in getmnt:usr/bin/getmnt libgetmnt0:usr/lib/*/libgetmnt.so.0; do
		rm -rf "$work/x"
		dpkg-deb -x build/deb/"${file%%:*}"_*.deb "$work/x"
		# shellcheck disable=SC2086
		readelf -lhdW "$work"/x/${file#*:} >"$work/elf" || return 1
		cat "$work/elf"
		grep -q 'Type: *DYN' "$work/elf" || return 1
		grep -q GNU_RELRO "$work/elf" || return 1
		grep -qE 'BIND_NOW|FLAGS.*NOW' "$work/elf" || return 1
		grep -qE 'GNU_STACK.*RW ' "$work/elf" || return 1
		# shellcheck disable=SC2086
		nm -D "$work"/x/${file#*:} | grep __stack_chk_fail || return 1
	done
}

# The system to install in.

mirror()
{
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' \
		2>/dev/null | awk -v name="$1" '$1 == name && $2 == "main" { sub("/+$", "", $3); print $3; exit }'
}

reachable()
{
	/usr/lib/apt/apt-helper -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 \
		-o Acquire::Retries=1 download-file "$1/dists/$2/InRelease" "$work/InRelease"
}

# alone COMMAND...: run in a new mount and PID namespace.
alone()
{
	unshare --mount --propagation private --pid --fork --kill-child "$@"
}

# enter DIR COMMAND...: run in a chroot in which one mount covers another on /mnt.
enter()
{
	local dir=$1
	shift
	# shellcheck disable=SC2016
	alone sh -c 'dir=$1; shift
		mount -t proc proc "$dir/proc" && mount -t tmpfs below "$dir/mnt" &&
		mount -t tmpfs above "$dir/mnt" &&
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 TERM=dumb \
			DEBIAN_FRONTEND=noninteractive chroot "$dir" "$@"' sh "$dir" "$@" </dev/null
}

make_base()
{
	local codename=$1 uri=$2
	rm -rf "$cache"
	mkdir -p "$cache"
	alone debootstrap --variant=minbase "$codename" "$cache/new" "$uri" &&
		enter "$cache/new" apt-get -y -q --no-install-recommends install "${tools[@]}" &&
		enter "$cache/new" sh -c 'mkdir /packages && chmod 777 /packages && cd /packages &&
			apt-get download arch-install-scripts' &&
		enter "$cache/new" apt-get clean &&
		mv "$cache/new" "$cache/base" && echo "$codename $uri ${tools[*]}" >"$cache/made-of"
}

# All files except caches and logs.
survey()
{
	(cd "$1" && find . \( -path ./proc -o -path ./tmp -o -path ./var/log -o -path ./var/cache \
		-o -path ./var/lib/apt -o -path './var/lib/dpkg/*-old' -o -path ./packages \) -prune -o \
		-printf '%y %m %U %G %p %l\n' | sort)
}

# Use.

in_root()
{
	enter "$root" "$@"
}

user_in_root()
{
	in_root setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

is_json()
{
	python3 -c '
import json, sys
mounts = json.load(sys.stdin)
assert mounts["complete"] is True, mounts
rows = {row["source"]: row for row in mounts["filesystems"]}
assert rows["above"]["target"] == "/mnt" and rows["above"]["state"] == "ok", rows
assert rows["below"]["target"] == "/mnt" and rows["below"]["state"] == "hidden", rows
assert rows["proc"]["target"] == "/proc", rows
'
}

# has_completion COMMAND WORD EXPECTED: what Tab offers after "COMMAND WORD".
has_completion()
{
	cat >"$root/tmp/completion" <<-'BASH'
		. /usr/share/bash-completion/bash_completion
		_completion_loader "$1"
		line=$(complete -p "$1") || exit 1
		function=${line#*-F }
		COMP_WORDS=("$1" "$2") COMP_CWORD=1 COMP_LINE="$1 $2" COMP_POINT=$((${#1} + ${#2} + 1))
		"${function%% *}" "$1" "$2" "$1"
		printf '%s\n' "${COMPREPLY[@]}"
	BASH
	in_root bash /tmp/completion "$1" "$2" >"$work/words" || return 1
	cat "$work/words"
	grep -qx -e "$3" "$work/words"
}

# shows_page TEXT PAGE...
shows_page()
{
	in_root env MANWIDTH=80 man "${@:2}" >"$work/page" || return 1
	grep -q -e "$1" "$work/page" || { head -n 20 "$work/page"; return 1; }
}

example()
{
	local program=$1
	in_root "$program" >"$work/out" || return 1
	cat "$work/out"
	grep -qx '/mnt ok' "$work/out" && grep -qx '/mnt hidden by /mnt' "$work/out" &&
		grep -qx '/proc ok' "$work/out"
}

compile_example()
{
	in_root sh -c "cc -Wall -Wextra -Werror $1 \$(pkg-config $2 --cflags libgetmnt) \
		/usr/share/doc/libgetmnt-dev/examples/mounts.c -o $3 \$(pkg-config $2 --libs libgetmnt)"
}

only_libc()
{
	in_root ldd "$1" >"$work/ldd" || return 1
	cat "$work/ldd"
	grep -q 'libgetmnt\.so\.0 => /' "$work/ldd" && ! grep -qE 'lib(mount|blkid)\.so' "$work/ldd"
}

use_packages()
{
	check "getmnt" in_root getmnt
	check "getmnt -J, parsed" eval 'in_root getmnt -J -l -o +STATE | is_json'
	check "getmnt, as an ordinary user" eval 'user_in_root getmnt -J -l | is_json'
	check "getmnt --version" eval "in_root getmnt --version | grep -F '$version'"
	check "check_getmnt" eval "in_root /usr/lib/nagios/plugins/check_getmnt -V | grep -F '$version'"
	check "man getmnt" shows_page '^ *getmnt ' getmnt
	check "man getmnt_run" shows_page 'getmnt_run' getmnt_run
	check "man getmnt-discover" shows_page '--names' getmnt-discover
	check "man check_getmnt" shows_page 'nagios' check_getmnt
	check "man getmnt_search_read" shows_page 'getmnt_search_close' getmnt_search_read
	check "completion for bash" has_completion getmnt --na --names
	check "completion for bash of check_getmnt" has_completion check_getmnt --war --warning
	check "completion for zsh" has_zsh_completion
	check "example: shared" compile_example "" "" /tmp/shared
	check "example: shared, run" example /tmp/shared
	check "example: shared, of libgetmnt.so.0 and libc" only_libc /tmp/shared
	check "example: static" compile_example -static --static /tmp/static
	check "example: static, run" example /tmp/static
}

# Make a package of an older version, whose configuration has one line less.
older()
{
	dpkg-deb -R "$root"/packages/getmnt_*.deb "$root/packages/old" &&
		sed -i "s/^Version: .*/Version: 0.0.9-1/" "$root/packages/old/DEBIAN/control" &&
		sed -i '/require \/var/d' "$root/packages/old/etc/getmnt/audit.conf" &&
		dpkg-deb -b "$root/packages/old" "$root/packages/older.deb" &&
		rm -r "$root/packages/old"
}

# The changed configuration is kept, and the new one is stored next to it.
is_kept()
{
	grep -x "ignore FSTAB-NOFAIL" "$root/etc/getmnt/audit.conf" &&
		grep -x "#require /var mountpoint" "$root/etc/getmnt/audit.conf.dpkg-dist" &&
		in_root getmnt audit --show-config | grep -x '/etc/getmnt/audit.conf:[0-9]*: ignore FSTAB-NOFAIL' &&
		in_root sh -c "dpkg-query -W getmnt | grep -F '$version'"
}

# The units are installed but not enabled.
is_disabled()
{
	local unit
	for unit in getmnt-audit.service getmnt-audit.timer getmnt-watch.service \
	            getmnt-index-update.service getmnt-index-update.timer getmnt-index-watch.service; do
		[ -f "$root/lib/systemd/system/$unit" ] || return 1
	done
	! find "$root/etc/systemd" "$root/etc/cron.d" -name '*getmnt*' 2>/dev/null | grep .
}

# genfstab is this program; that of arch-install-scripts is renamed.
is_ours()
{
	[ "$(readlink "$root/usr/bin/genfstab")" = getmnt ] && in_root sh -c "genfstab / >/dev/null" &&
		in_root man -w genfstab && [ ! -L "$root/usr/bin/genfstab.arch-install-scripts" ] &&
		in_root genfstab.arch-install-scripts -h
}

is_theirs()
{
	[ -f "$root/usr/bin/genfstab" ] && [ ! -L "$root/usr/bin/genfstab" ] && in_root genfstab -h &&
		! compgen -G "$root/usr/bin/genfstab.*"
}

use_genfstab()
{
	check "genfstab: installed after arch-install-scripts" is_ours
	check "genfstab: remove getmnt-genfstab" in_root apt-get -y -q remove getmnt-genfstab
	check "genfstab: that of arch-install-scripts is back" is_theirs
	check "genfstab: remove arch-install-scripts" in_root dpkg --purge arch-install-scripts
	check "genfstab: install getmnt-genfstab alone" in_root sh -c "dpkg -i /packages/getmnt-genfstab_*.deb"
	check "genfstab: install arch-install-scripts" in_root sh -c "dpkg -i /packages/arch-install-scripts_*.deb"
	check "genfstab: installed before arch-install-scripts" is_ours
}

has_zsh_completion()
{
	cat >"$root/tmp/completion.zsh" <<-'ZSH'
		autoload -Uz compinit && compinit -u -D
		[[ $_comps[getmnt] == _getmnt && $_comps[check_getmnt] == _getmnt ]] || exit 1
		compadd() { [[ $1 = -S ]] && shift 2; shift; print -l -- "$@"; }
		words=(getmnt --na) CURRENT=2 PREFIX=--na
		autoload +X _getmnt && _getmnt
	ZSH
	in_root zsh -f /tmp/completion.zsh >"$work/words" || return 1
	cat "$work/words"
	grep -qx -e --names "$work/words"
}

# remove keeps the configuration, purge nothing.
leaves_conffiles()
{
	[ -f "$root/etc/getmnt/audit.conf" ] && [ ! -e "$root/usr/bin/getmnt" ] && [ ! -e "$root/lib/systemd/system/getmnt-audit.timer" ]
}

whole()
{
	in_root dpkg --verify getmnt getmnt-genfstab libgetmnt0 libgetmnt-dev >"$work/verify" || return 1
	diff /dev/null "$work/verify"
}

differ()
{
	! cmp -s "$1" "$2"
}

gone()
{
	in_root sh -c '! command -v getmnt && ! dpkg -l getmnt getmnt-genfstab libgetmnt0 libgetmnt-dev 2>/dev/null | grep -E "^(ii|rc)"'
}

cleanup()
{
	rm -rf "$work" "$cache/root" "$cache/new"
}

for program in dpkg-buildpackage dh lintian apt-get; do
	if ! command -v $program >/dev/null; then
		skip "packages" "$program is not installed"
		finish
	fi
done
# An ordinary user builds there.
work=$(mktemp -d)
chmod 755 "$work"
trap cleanup EXIT
version=$(sed -n 's/^VERSION := //p' Makefile)

sort /proc/self/mountinfo >"$work/mounts"
check "make deb: build, ${once:+no }test, lintian" build_once || finish
check "hardened" hardened
if [ -z "$once" ]; then
	check "build again in another directory as an ordinary user" build_again &&
		check "build again: no tests were run" eval "! grep -q 'check-unit' '$work/again.log'"
fi
[ ! -d "$work/again/build/deb" ] || check "build again: the same bytes" same_bytes

# shellcheck disable=SC1091
codename=$(. /etc/os-release && echo "${VERSION_CODENAME-}")
uri=$(mirror "$codename")
if [ "$(id -u)" -ne 0 ] || ! alone true; then
	skip "chroot" "needs root and namespaces"
	if [ -n "${GETMNT_REQUIRE_ROOT-}" ]; then
		check "GETMNT_REQUIRE_ROOT is set" false
	fi
	finish
fi
if [ ! -d "$cache/base" ] || [ "$(cat "$cache/made-of")" != "$codename $uri ${tools[*]}" ]; then
	if ! command -v debootstrap >/dev/null; then
		skip "chroot" "debootstrap is not installed"
		finish
	elif [ -z "$uri" ]; then
		skip "chroot" "apt has no mirror of $codename"
		finish
	elif ! reachable "$uri" "$codename" >"$work/log" 2>&1; then
		skip "chroot" "the mirror of apt cannot be reached:" \
			"$(grep -m 1 '^E:' "$work/log")"
		finish
	fi
	check "debootstrap" make_base "$codename" "$uri" || finish
fi

root=$cache/root
rm -rf "$root"
cp -a --reflink=auto "$cache/base" "$root"
survey "$root" >"$work/before"
cp build/deb/*.deb "$root/packages"
if check "older package" older && check "install the older package" in_root dpkg -i /packages/older.deb &&
		sed -i 's/^#ignore FSTAB-NOFAIL/ignore FSTAB-NOFAIL/' "$root/etc/getmnt/audit.conf" &&
		check "upgrade" in_root sh -c "cd /packages && apt-get -y -q --no-install-recommends \
		-o Dpkg::Options::=--force-confdef install \
		./getmnt_*.deb ./getmnt-genfstab_*.deb ./libgetmnt0_*.deb ./libgetmnt-dev_*.deb"; then
	check "the configuration is kept" is_kept
	mv "$root/etc/getmnt/audit.conf.dpkg-dist" "$root/etc/getmnt/audit.conf"
	check "the installed files are intact" whole
	check "units: installed, disabled" is_disabled
	use_genfstab
	use_packages
	survey "$root" >"$work/installed"
	check "files were installed" differ "$work/before" "$work/installed"
	check "remove" in_root apt-get -y -q remove getmnt getmnt-genfstab libgetmnt-dev
	check "removed: except the configuration" leaves_conffiles
	check "purge" in_root apt-get -y -q purge getmnt getmnt-genfstab libgetmnt0
	check "gone" gone
	survey "$root" >"$work/after"
	check "no file is left" diff "$work/before" "$work/after"
fi
sort /proc/self/mountinfo >"$work/mounts-after"
check "no mount is left" diff "$work/mounts" "$work/mounts-after"
finish
