# search in JSON: one document, or an object a line; errors are entries.
umask 022
mkdir -p t/d/deep
touch 't/sp ace' t/é $'t/new\nline' $'t/bad\xff' 't/qu"ote'
ln -s 'to "é"' t/link
sorted() { getmnt search "$@" 2>&1 | sort; echo "status ${PIPESTATUS[0]}"; }
echo "== jsonl"
sorted --format=jsonl "*" t
sorted --format=jsonl -o NAME,LINK,name,SIZE "/link|/bad*|/é" t
echo "== a document"
status search -J "/link" t 2>&1
status search --json "nothing" t 2>&1
getmnt search -J "*" t | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(sorted(e["path"] for e in d.pop("entries")), d)'
getmnt search -J -m "é" t | python3 -c 'import json, sys
print({k: type(v).__name__ for k, v in json.load(sys.stdin)["entries"][0].items()})'
echo "== errors"
status search -J --depth=1 "x" t t/none t/link 2>&1
status search --format=jsonl "x" t/none 2>&1
echo "== bad"
status search -J -l "*" t 2>&1
status search -J -0 "*" t 2>&1
status search --json --count "*" t 2>&1
status search --format=xml "*" t 2>&1
status search --format= "*" t 2>&1
