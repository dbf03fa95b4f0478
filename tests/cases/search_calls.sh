# What search asks the kernel: no attributes but where they are needed, and then
# one call for each object.
mkdir -p t/d/e
touch t/{1..20}.c t/d/{1..5}.h
for i in 1 2 3; do ln -s nowhere "t/link$i"; done
calls()
{
	getmnt search --threads=1 --stats=json "$@" t 2>&1 >/dev/null | tail -n 1 | python3 -c '
import json, sys
stats = json.load(sys.stdin)
calls = stats["calls"]
root = 1      # the statx of the root, and the readlinkat of its name
print(" ".join(sys.argv[1:]), "| objects %d, dirs %d, entries %d: statx %d, readlinkat %d, faccessat2 %d" % (
    stats["found"], stats["dirs"], stats["entries"], calls["statx"] - root, calls["readlinkat"] - root,
    calls["faccessat2"]))
assert stats["total_calls"] == sum(calls.values()) and stats["errors"] == 0' "$@"
}
calls "*"
calls --type=f "*"
calls --type=d,l "*"
calls --count "*"
calls -o PATH,NAME,TYPE "*"
calls -J "*"
calls -0 "*"
calls -o LINK "*"
calls -o SIZE "*"
calls -o SIZE,MTIME,MNT-ID,USER "*"
calls -o SIZE "*.h"
calls -o SIZE --type=d "*"
calls -l "*"
calls -l --type=l "*"
calls --type=d --access=r "*"
calls --color=always "*.h"
LS_COLORS=ex=0:su=0:sg=0:st=0:ow=0:tw=0 calls --color=always "*"
calls -m "/d/1.h"
calls --first "/*"
# However attributes are read, the result is the same.
for args in --engine=sync --engine=bulk --ahead "--ahead --engine=sync" "--ahead --engine=bulk"; do
	# shellcheck disable=SC2086
	getmnt search $args -o PATH,TYPE,SIZE,INO,MTIME "*" t | sort >"found"
	[ -s first ] || cp found first
	cmp found first && wc -l <found
done
