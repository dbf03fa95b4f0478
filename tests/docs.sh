#!/bin/bash
# SPDX-License-Identifier: MIT
#
# docs.sh PROGRAM   the docs agree with the program and its source
#
# What --help and --list-columns name must stand in the man page, and every
# long option in the completion; what the man page has as an option's head
# must stand in --help.  What docs/ARCHITECTURE.md names must exist.  A test
# must name each option without a letter, each output format and primary.
set -u
cd "$(dirname "$0")/.." || exit 1
program=$1
passed=0 failed=0 skipped=0

# verdict NAME MISSING...: passed when nothing is missing.
verdict()
{
	local name=$1
	shift
	if [ $# -eq 0 ]; then
		passed=$((passed + 1))
		echo "ok   $name"
	else
		failed=$((failed + 1))
		echo "FAIL $name: $*"
	fi
}

# The long options that a text has, one per line.
long_options()
{
	grep -oE '(^|[^[:alnum:]-])--[a-z][a-z0-9-]*' | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u
}

# The text of a man page, without hyphenation or backspaces.
man_text()
{
	if command -v mandoc >/dev/null; then
		mandoc -T ascii -O width=200 "$1" | sed 's/.\x08//g'
	else
		sed 's/\\-/-/g; s/\\f.//g' "$1"
	fi
}

# missing FILE < WORDS: the words that do not stand in a file, as words.
missing()
{
	local word
	while IFS= read -r word; do
		grep -qE -- "(^|[^[:alnum:]-])$word([^[:alnum:]-]|\$)" "$1" || echo "$word"
	done
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat tests/cases/*.sh tests/system/*.py tests/lib/*.py tests/unit/*.c >"$work/tests"

commands=(discover search find serve fstab index recover audit profile)
for command in "${commands[@]}"; do
	page=man/getmnt-$command.8
	if ! "$program" "$command" --help >"$work/help" 2>&1 || [ ! -s "$work/help" ]; then
		verdict "$command --help" "does not work"
		continue
	fi
	# Commands of a command have options of their own.
	mapfile -t subcommands < <(sed -n '/^Commands:$/,/^$/s/^   \([a-z]\+\) .*/\1/p' "$work/help")
	for sub in "${subcommands[@]}"; do
		"$program" "$command" "$sub" --help >>"$work/help" 2>&1
	done
	long_options <"$work/help" >"$work/options"
	mapfile -t miss < <(grep -E '^ {3,}--' "$work/help" | cut -d= -f1 | long_options | missing "$work/tests")
	verdict "tests: options of $command" "${miss[@]}"
	if [ ! -e "$page" ]; then
		verdict "$page" "is missing"
	else
		man_text "$page" >"$work/man"
		mapfile -t miss < <(missing "$work/man" <"$work/options")
		verdict "$page: options of --help" "${miss[@]}"

		# Options that the page describes: heads of its lists.
		grep -E '^ {3,9}-' "$work/man" | long_options >"$work/heads"
		mapfile -t miss < <(missing "$work/help" <"$work/heads")
		verdict "$command --help: options of the page" "${miss[@]}"

		if ! grep -q -- --list-columns "$work/options"; then
			:
		elif "$program" "$command" --list-columns >"$work/columns" 2>&1; then
			awk '$1 ~ /^[A-Z0-9][A-Z0-9:%_-]*$/ && $1 != "COLUMN" && $1 != "NAME" && $1 != "HOLDER" { print $1 }' "$work/columns" >"$work/names"
			if [ -s "$work/names" ]; then
				mapfile -t miss < <(missing "$work/man" <"$work/names")
				verdict "$page: columns ($(wc -l <"$work/names"))" "${miss[@]}"
			else
				verdict "$command --list-columns" "lists none"
			fi
		else
			verdict "$command --list-columns" "does not work"
		fi
	fi
	if [ -e contrib/completion/getmnt ]; then
		mapfile -t miss < <(missing contrib/completion/getmnt <"$work/options")
		verdict "completion: options of $command --help" "${miss[@]}"
		# The words that it offers as arguments are in the page.
		sed -n "/^\t$command)/,/^\t\t;;/s/.*\(words\|list\|in\)='\{0,1\}\([a-z][^'$]*\)['; ].*/\2/p" contrib/completion/getmnt |
			tr ' ' '\n' | grep -E '^[a-z][a-z0-9-]+$' | sort -u >"$work/words"
		mapfile -t miss < <(missing "$work/man" <"$work/words")
		verdict "$page: arguments ($(wc -l <"$work/words"))" "${miss[@]}"
	else
		verdict "contrib/completion/getmnt" "is missing"
	fi
done

# The page and the help of getmnt find have each primary that the completion offers.
sed -n "/^\tfind)/{n;s/.*='//;s/'//p}" contrib/completion/getmnt | tr ' ' '\n' | grep -E '^-[a-z]..' | sort -u >"$work/words"
man_text man/getmnt-find.8 >"$work/man"
"$program" find --help >"$work/help"
mapfile -t miss < <(missing "$work/man" <"$work/words"; missing "$work/help" <"$work/words" | grep -vxE -- '-(dev|iwholename|older|wholename|no(leaf|warn|ignore_readdir_race)|warn)')
verdict "primaries of getmnt find ($(wc -l <"$work/words"))" "${miss[@]}"

cat tests/cases/*.sh >"$work/cases"
# The formats that have no option of their own.
"$program" --format=? 2>&1 | sed -n 's/.* json, //p' | tr -d ' ' | tr , '\n' >"$work/forms"
mapfile -t miss < <(missing tests/fixtures/search/query <"$work/words"
	missing "$work/cases" <"$work/forms"; sed 's/^/--format=/' "$work/forms" | missing tests/lib/gm.py)
verdict "tests: primaries of getmnt find, formats of getmnt discover" "${miss[@]}"

# The completion for zsh runs the one for bash.
if command -v zsh >/dev/null; then
	# shellcheck disable=SC2016
	# zsh_completes EXPECTED COMMAND WORD...
	zsh_completes()
	{
		ln -sf "$(realpath "$program")" "$work/$2"
		PATH=$work:$PATH zsh -fc 'fpath=("$PWD/contrib/completion" $fpath)
			autoload -Uz compinit && compinit -u -D
			compadd() { [[ $1 = -S ]] && shift 2; shift; print -l -- "$@"; }
			words=("$@") CURRENT=$# PREFIX=$argv[-1]
			autoload +X $_comps[$1] && $_comps[$1]' zsh "${@:2}" >"$work/words" 2>&1
		grep -qxF -e "$1" "$work/words" || miss+=("$1")
	}
	miss=()
	zsh_completes --names=kernel getmnt --names=
	zsh_completes SIZE, getmnt -o SIZ
	zsh_completes --only=MNT-DUP,MNT-STALE getmnt audit --only=MNT-DUP,MNT-S
	zsh_completes partuuid getmnt fstab --id part
	zsh_completes MAJ:MIN,SIZE, getmnt -o MAJ:MIN,SI
	zsh_completes --warning check_getmnt --war
	zsh_completes --include=snap check_getmnt --include=sn
	verdict "completion for zsh" "${miss[@]}"
else
	skipped=$((skipped + 1))
	echo "skip completion for zsh: zsh is not installed"
fi

# What docs/ARCHITECTURE.md names: files, functions or members that are functions, and names with their file.
page=docs/ARCHITECTURE.md
mapfile -t gone < <(grep -oE '\b(src|tests|man|fuzz|build-aux|docs)/[][a-zA-Z0-9_./-]*[a-z0-9]' "$page" | sort -u |
	while IFS= read -r path; do [ -e "$path" ] || echo "$path"; done)
find src include -name '*.[ch]' -exec cat {} + |
	sed -nE 's/^[A-Za-z][^=;]*[ *]([a-z0-9_]+)\(.*/\1/p; s/.*\(\*([a-z0-9_]+)\)\(.*/\1/p' >"$work/functions"
# shellcheck disable=SC2016
mapfile -t more < <(grep -oE '`[a-z0-9_]+\(\)`' "$page" | tr -d '`()' | sort -u | grep -vxF -f "$work/functions")
# shellcheck disable=SC2016
mapfile -t bare < <(grep -oE '`[a-z0-9_]+\.[ch]`' "$page" | tr -d '`' | sort -u |
	while IFS= read -r name; do [ -n "$(find src -name "$name")" ] || echo "$name"; done)
# shellcheck disable=SC2016
mapfile -t moved < <(tr -s ' \n' ' ' <"$page" |
	grep -oE '(`(struct )?[A-Za-z0-9_]+(\(\))?`(, | and ))*`(struct )?[A-Za-z0-9_]+(\(\))?`(, | \()`src/[a-z0-9_/]+\.[ch]`' |
	while IFS= read -r names; do
		file=${names##*\`src} file=src${file%\`}
		grep -oE '`(struct )?[A-Za-z0-9_]+(\(\))?`' <<<"$names" | sed -E 's/`(struct )?//; s/`//; s/\(\)$/\\(/' |
			while IFS= read -r name; do grep -qsE -- "^[A-Za-z#].*\b$name" "$file" || echo "${name%\\(} in $file"; done
	done)
verdict "$page: its files and functions exist" "${gone[@]}" "${more[@]}" "${bare[@]}" "${moved[@]}"

"$program" --help >"$work/help" 2>&1
if [ -s "$work/help" ]; then
	verdict "getmnt --help"
else
	verdict "getmnt --help" "is empty"
fi

# The rules that --write goes by.
man_text man/getmnt-fstab.8 >"$work/page"
boot() { sed -n 's/.*"\(FSTAB-[A-Z-]*\)", [A-Z]*, \(AR_BOOT\|BOOT_LINT\).*/\1/p' src/audit/rules.h; }
mapfile -t gone < <(boot | missing "$work/page")
mapfile -t more < <(grep -oE '^ +FSTAB-[A-Z-]+' "$work/page" | tr -d ' ' | grep -vxF -f <(boot))
verdict "rules of the check of an fstab" "${gone[@]}" "${more[@]}"

# The rules of the audit; FSTAB-LOST is of two files.
man_text man/getmnt-audit.8 >"$work/page"
"$program" audit --list-rules | cut -d' ' -f1 >"$work/rules"
mapfile -t gone < <(missing "$work/page" <"$work/rules")
mapfile -t more < <(grep -oE '^ +[A-Z]+-[A-Z-]*[A-Z]$' "$work/page" | tr -d ' ' | grep -vxF -f "$work/rules")
verdict "rules of getmnt audit ($(wc -l <"$work/rules"))" "${gone[@]}" "${more[@]}"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
