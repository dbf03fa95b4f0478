# What getmnt-search(8) promises of its options, output and status.
mkdir -p t/a/b t/.hid 't/sp ace' t/é
touch t/a/x.c t/a/b/x.c t/a/b/y.h t/.hid/x.c 't/sp ace/n
l' t/é/ü
ln -s a t/link
printf x >t/a/b/y.h
sorted() { getmnt search "$@" 2>&1 | sort; echo "status ${PIPESTATUS[0]}"; }
for args in "*" "x.c" "/x.c" "/a/x.c" "b/*" "/*/*.c" "*.c|*.h" "?" "[!a]*" ".*" "|x.c" "a/" "/"; do
	echo "== $args"
	sorted "$args" t
done
echo "== options"
sorted --type=d "*" t
sorted --type=lf "/*/?" t t/a
sorted --type=f,l --first "/*/link|/link" t t/a
sorted --period "*.c|*hid" t
sorted --paper "?|x?.c" t
sorted --depth=1 "*" t/a
sorted --first "x.c" t/a/b
sorted --count "*" t
getmnt search -m "y.h" t | cut -f 1-3,6,9
getmnt search -0 "n*" t | od -An -c
(cd t/a && sorted "*.c")
echo "== roots that end in slashes, as find has them"
for root in t/a/ t//a t/a// ./t/a/.; do
	sorted "x.c" "$root"
	sorted -m "x.c" -o PATH "$root"
	find "$root" -name x.c | sort
done
sorted "x" t/none/
echo "== bad"
for args in "" "[" "a\\" "x t/none" "x t/a/x.c" "x --type=q" "x --access=" "x --depth=-1" "--nosuch x"; do
	# shellcheck disable=SC2086
	if [ -z "$args" ]; then status search "" 2>&1; else status search $args 2>&1; fi
done
status search 2>&1
# Without openat2 openat stands in for it; without mount IDs in statx, one file of /proc/self/fdinfo is read.
case ,${GETMNT_DISABLE:-}, in *,statx-mntid,*) fdinfo=1 ;; *) fdinfo=0 ;; esac
GETMNT_DISABLE=${GETMNT_DISABLE:+$GETMNT_DISABLE,}last-pos getmnt search --threads=1 --stats "*" t 2>&1 >/dev/null | sed -E 's/[0-9]+\.[0-9]+ s/N s/; s/(mounts: )[0-9]+/\1N/' |
	awk -v fdinfo=$fdinfo '$1 ~ /^openat2?$/ { n += $2; next }
		/^kernel calls:/ { print "kernel calls: " $3 - 3 * fdinfo; next }
		$1 == "read" && $2 == fdinfo { next }
		$1 == "close" { printf "  close              %d\n", $2 - fdinfo; next }
		{ print } END { print "opened: " n - fdinfo }'
