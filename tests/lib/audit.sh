# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
#
# What the cases of getmnt audit's formats share: a table and an fstab with planted faults in the directory
# of the case, a clean pair, and functions to print and read each format.
export NO_COLOR=1
schema=$TOP/docs/audit.schema.json
forms=(text json jsonl nagios prometheus)

# Set way to the options of a format, with time enough for valgrind.
choose()
{
	case $1 in
	nagios) way=(--format=nagios --timeout=60) ;;
	*) way=(--format="$1") ;;
	esac
}

# Replace what differs from run to run.
plain()
{
	sed -E 's/"version": "[^"]*"/"version": VERSION/; s/version="[^"]*"/version=VERSION/; s/("(time|seconds)": )[0-9.]+/\1N/g' |
		sed -E 's/(_(timestamp|duration)_seconds) [0-9.]+/\1 N/; s/time=[0-9.]+s/time=Ns/'
}

# Read a format as its readers do, and print what it contains.
read_form()
{
	case $1 in
	json | jsonl) python3 "$TOP/tests/lib/forms.py" json "$schema" ;;
	nagios | prometheus) python3 "$TOP/tests/lib/forms.py" "$1" ;;
	*) cat ;;
	esac
}

audit()
{
	getmnt audit -F table --fstab=fstab "$@"
}

# Run without valgrind what an earlier run has covered.
swift()
{
	GETMNT_WRAP='' "$@"
}

cat >table <<'END'
20 1 8:1 / / rw,relatime - ext4 /dev/mapper/root rw
21 20 8:2 / /data ro,relatime - ext4 /dev/mapper/data ro
22 20 8:4 / /t rw,relatime - ext4 /dev/mapper/u rw
23 22 8:5 / /t rw,relatime - ext4 /dev/mapper/v rw
24 23 8:3 / /t rw,relatime - ext4 /dev/mapper/t rw
25 20 8:1 /srv/x//deleted /x rw,relatime - ext4 /dev/mapper/root rw
END
cat >fstab <<'END'
/dev/mapper/root / ext4 defaults 0 1
/dev/mapper/data /data ext4 defaults,nofail 0 2
/dev/mapper/t /t ext4 defaults,nofail 0 2
/srv/x /x none bind,nofail 0 0
# getmnt: ignore=DRIFT-NOT-MOUNTED
/dev/mapper/y /y ext4 defaults,nofail 0 2
/dev/mapper/z /z ext4 defaults,nofail,size=17 0 2
END
head -n 1 table >clean.table
head -n 1 fstab >clean.fstab
