#!/bin/sh
# SPDX-License-Identifier: MIT
#
# getmnt-audit.sh [OPTION...]   a plugin of node-problem-detector
#
# Status 0: no findings.  1: findings.  2: the audit failed.  Standard output has one line of at most
# 80 bytes.  Options are those of check_getmnt.
#
# The detector must run in the mount namespace of the node, as its package does.  In a pod (hostPID,
# privileged) set GETMNT_ENTER="nsenter -t 1 -m" in its environment: this runs the check_getmnt of the
# node.
plugin=${CHECK_GETMNT:-/usr/lib/nagios/plugins/check_getmnt}

# shellcheck disable=SC2086 # words
told=$(${GETMNT_ENTER-} "$plugin" -t 20 "$@" 2>&1)
status=$?
# Cut between characters: a condition of Kubernetes must be UTF-8.
printf '%s\n' "$told" |
	LC_ALL=C sed -n '1 { s/ | .*//; s/^\(.\{80\}\).*/\1/; t cut; p; q; :cut; s/[\xc0-\xff][\x80-\xbf]*$//; p; q }'
case $status in
0) exit 0 ;;
1 | 2) exit 1 ;;
*) exit 2 ;;
esac
