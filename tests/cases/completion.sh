# What bash is told to complete, by what --dump-completion prints, which contrib/ has.
getmnt --dump-completion >completion
cmp completion "$TOP/contrib/completion/getmnt"
# shellcheck disable=SC1091
. ./completion
touch file
mkdir dir
# ask WORD...: complete the last, as bash parts the line, and where it does not part it at '='.
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
	COMP_WORDS=(getmnt "${parted[@]}") COMP_CWORD=${#parted[@]} COMPREPLY=()
	_getmnt
	got=${COMPREPLY[*]}
	echo "$*: $got"
	COMP_WORDS=(getmnt "$@") COMP_CWORD=$# COMPREPLY=()
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
ask --engine=u
ask -d f
ask --format=d
ask --names=
ask --stats=j
ask --prune=-le
ask --prune -leaf,+sh
ask -o SIZ
ask -o SIZE,PAR
ask -o +part
ask --output=SIZE,US
ask --tab-file=fi
ask -F f
ask --root=d
ask --depth ""
ask --max-time=
ask audit --form
ask snapshot --k
