# The completion that --dump-completion prints, in bash; contrib/ has the same text.
getmnt --dump-completion >completion
cmp completion "$TOP/contrib/completion/getmnt"
# shellcheck disable=SC1091
. ./completion
touch file
mkdir dir
# ask WORD...: complete the last word, where bash splits the line at '=' and where it does not.
program=getmnt
ask()
{
	local parted=() word got
	for word; do
		case $word in
		--*=?*) parted+=("${word%%=*}" "=" "${word#*=}") ;;
		--*=) parted+=("${word%=}" "=") ;;
		*) parted+=("$word") ;;
		esac
	done
	COMP_WORDS=("$program" "${parted[@]}") COMP_CWORD=${#parted[@]} COMPREPLY=()
	_getmnt
	got=${COMPREPLY[*]}
	echo "$*: $got"
	COMP_WORDS=("$program" "$@") COMP_CWORD=$# COMPREPLY=()
	_getmnt
	case $word in
	--*=*) COMPREPLY=("${COMPREPLY[@]#"${word%%=*}="}") ;;
	esac
	[ "${COMPREPLY[*]}" = "$got" ] || fail "$*: ${COMPREPLY[*]}"
}
ask --ker
ask --kernel=
ask --kernel=l
ask --engine ""
ask -d f
ask --format=d
ask --prune=-le
ask --prune -leaf,+sh
ask -o SIZ
ask -o SIZE,PAR
ask -o +part
ask --output=SIZE,US
ask --tab-file=fi
ask --root=d
ask --depth ""
ask audit --form
ask search --en
ask search --access ""
ask search --access=r,
ask search --type f,d
ask search --format j
ask search -o SIZE,P
ask search -o +li
ask search '*' d
ask help au
ask fstab -t PART
ask fstab --id=part
ask fstab --fix=order,
ask audit --only=FSTAB-SYNTAX,DRIFT-R
ask audit --include s
ask audit --fail-on ""
ask -t tm
program=/usr/lib/nagios/plugins/check_getmnt
ask --w
ask --warning ""
ask --disable MNT-S
ask --format ""
ask --json
program=getmnt
# bash makes a word of a colon as well.
for words in "-o MAJ : MIN,PARTU" "--output = SIZE,MAJ : MIN,PARTU" "-o MAJ :" "-o size,maj :"; do
	read -ra COMP_WORDS <<<"getmnt $words"
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_getmnt
	echo "$words: ${#COMPREPLY[@]}, the first ${COMPREPLY[0]}"
done
# The program accepts every offered word.
for option in access color engine format sort stats type; do
	COMP_WORDS=(getmnt search "--$option" "=") COMP_CWORD=3 COMPREPLY=()
	_getmnt
	for word in "${COMPREPLY[@]}"; do
		getmnt search "--$option=$word" nothing dir >/dev/null 2>words || fail "--$option=$word: $(cat words)"
	done
	getmnt search "--$option=?" nothing dir 2>&1 | head -n 1
done
# Users choose the names of mount points: they are neither run nor split.
mkdir bin
cat >bin/getmnt <<'END'
#!/bin/sh
printf '%s\n' '/' '/m/$(touch${IFS}ran)' '/m/`touch${IFS}ran`' '/m/two\x20words' '/m/new\x0aline' '/m/back\x5cslash' '/n' '/mm'
END
chmod +x bin/getmnt
unset -f getmnt
PATH=$PWD/bin:$PATH
COMP_WORDS=(getmnt /m/) COMP_CWORD=1 COMPREPLY=()
_getmnt
printf '<%s>\n' "${COMPREPLY[@]}"
[ ! -e ran ] || fail "the name of a mount point was run"
