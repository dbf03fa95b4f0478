# Patterns of a command line: ** and braces, -e, -i, --exclude, --no-hidden, --paper; depth.
mkdir -p t/src/sub/deep t/lib/sub t/.git/objects t/node_modules/x 't/{a,b}'
touch t/src/a.c t/src/b.h t/src/sub/c.c t/src/sub/deep/D.C t/lib/sub/e.c t/.git/objects/o.c \
	t/node_modules/x/y.c t/README.md 't/{a,b}/f.c' t/src/École
while IFS= read -r args; do
	echo "== $args"
	eval "getmnt search $args" 2>err | sort
	echo "status ${PIPESTATUS[0]}"
	cat err
done <<'ARGS'
'/src/**/*.c' t
'{src,lib/sub}/*.{c,h}' t
'/src/**' t
'\{a,b}' t
--paper '{a,b}' t
--paper '/**/*.c' t
-i '*.c' t/src
-i readme.MD t
-i '[É]COLE' t
-e '*.md' -e '/src/*.c' t
-e 'sub/*.c|*.h' -e deep t t/src
-ie 'd.c' t
-e x
-e 'x\' t
-e ok -e 'a|[' t
-e '' t
'*' --exclude=.git --exclude 'node_modules' --exclude '/src/**/*.c' t
--no-hidden '*.c' t
--no-hidden '.*' t
-i '*' --exclude '{SRC,lib,.*}' t
'*' --exclude '[' t
'*' --exclude '' t
'*' --exclude '/' t/lib
--exclude
--maxdepth=1 '*' t
--maxdepth=2 '/src/sub/*' t
--maxdepth 3 --mindepth=3 '/src/**' t
--mindepth=4 '/src/sub/deep/D.C' t
--mindepth=5 '/src/sub/deep/D.C' t
--maxdepth=0 '*' t t/README.md
--maxdepth=1 --mindepth 2 '*' t
--maxdepth=x '*' t
--ignore-vanished x t/none
--exclude-type= '*' t
--exclude-type=,, '*' t
--exclude-type=nfs, '*' t
--exclude-type=,nfs '*' t
ARGS
echo "== too much"
many=$(printf 'a|%.0s' {1..20000})
status search "$many" --exclude "$many" t 2>&1 | sed 's/|a|.*"/..."/'
status search -e "$(printf '%040000d' 0 | fold -w 4000 | tr '\n' '|')" -e "$(printf '%040000d' 0 | fold -w 4000 | tr '\n' '|')" t 2>&1 | sed 's/000*/.../'
status search "$(printf '{a,b}%.0s' {1..40})" t 2>&1
