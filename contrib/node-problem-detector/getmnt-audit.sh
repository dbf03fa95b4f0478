#!/bin/sh
# SPDX-License-Identifier: MIT
#
# getmnt-audit.sh [OPTION...]   the audit, as node-problem-detector has its plugins
#
# Status 0: nothing to tell.  1: there is.  2: it could not be audited.  Standard output has
# one line of at most 80 bytes.  Options are those of check_getmnt.
#
# The detector must be in the mount namespace of the node, as its package runs it.  In a pod
# (hostPID, privileged) say GETMNT_ENTER="nsenter -t 1 -m" in its environment: then it is the
# node's check_getmnt that runs.
plugin=${CHECK_GETMNT:-/usr/lib/nagios/plugins/check_getmnt}

# shellcheck disable=SC2086 # words
told=$(${GETMNT_ENTER-} "$plugin" -t 20 "$@" 2>&1)
status=$?
# Cut where a character begins: a condition of Kubernetes takes UTF-8 alone.
printf '%s\n' "$told" |
	LC_ALL=C sed -n '1 { s/ | .*//; s/^\(.\{80\}\).*/\1/; t cut; p; q; :cut; s/[\xc0-\xff][\x80-\xbf]*$//; p; q }'
case $status in
0) exit 0 ;;
1 | 2) exit 1 ;;
*) exit 2 ;;
esac
