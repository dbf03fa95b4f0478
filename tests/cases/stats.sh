# --stats=json: one object, on the last line of standard error.
getmnt -F "$(table cli/host)" --stats=json >/dev/null 2>err
tail -n 1 err | python3 -c '
import json, sys
stats = json.load(sys.stdin)
print(sorted(key for key in stats if key in ("calls", "dirs", "entries", "named", "states", "seconds")))
print(stats["dirs"], stats["calls"].get("getdents64", 0), stats["calls"].get("statx", 0) <= 1)
'
getmnt -F "$(table cli/host)" --stats >/dev/null 2>err
[ -s err ] && echo "text too"
