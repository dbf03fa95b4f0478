# SPDX-License-Identifier: MIT
# What the runners of cases share; to be read by them.

# Whether a case is among those asked for: NAME PATTERN...; without one, all are.
chosen()
{
	local name=$1 pattern
	shift
	[ $# -gt 0 ] || return 0
	for pattern in "$@"; do
		# shellcheck disable=SC2053
		[[ $name == $pattern ]] && return 0
	done
	return 1
}
