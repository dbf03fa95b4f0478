# Bad usage: status 1, nothing on standard output.
host=$(table cli/host)
while IFS= read -r args; do
	echo "== $args"
	# shellcheck disable=SC2086
	getmnt -F "$host" $args 2>&1 >out | sed 's/one of: tree, .*/one of: tree .../'
	echo "status ${PIPESTATUS[0]}, $(wc -c <out) bytes out"
done <<'ARGS'
--nosuchoption
-o NOSUCH
-o
-J -P
-l --tree
-M /a -T /b
--names=nosuch
--algorithm=getmnt4
--depth=-1
--depth=x
--depth=99999999999999999999
--search-limit=x
--threads=100000
--max-time=-1
--max-time=nan
--stacks=x
--prune=leaf
--prune=+nosuch
--format=nosuch
--stats=nosuch
--identity=x
--kernel=x
--id=0
-t
--types=
-t ,
-O +
-O ro,no
--boundaries
--boundaries --names=kernel
audti
--poll
-Q x
--probe=all
--probe=some
--root=/ --task=1
a b c
audit
ARGS
status profile --nosuch
status search --nosuch
status nosuchcommand -F "$host"
status --boundaries --names=hint
status --boundaries --names=kernel
status -s --boundaries
# What was typed is shown, not sent to the terminal.
status --depth $'\e[31mX\a'
status -o $'\e]0;x\a'
status $'--no\e[2Jsuch'
status -N $'\t1\n2'
for args in "help audti" "help nosuch" "help audit x" "audti" "fsatb --help"; do
	# shellcheck disable=SC2086
	getmnt $args >out 2>&1
	echo "status $?: $(head -n 1 out)"
done
for option in "" -S -M -T --types= --root=; do
	# shellcheck disable=SC2086
	getmnt $option "" 2>&1 | head -n 1
done
cp "$host" table
# What a new user tries: the first line of the message is the remedy.
while IFS= read -r args; do
	set -f
	# shellcheck disable=SC2086
	getmnt $args 2>&1 | head -n 1 | sed "s|^|$args: |"
	set +f
done <<'ARGS'
-F /dev/null -o TARGTE
-o TARGET, SOURCE
-F table -o TARGET SOURCE
-F table find .
-F table ls
-F table serach x
-F table UUID=nosuch
-F table 99
-F table -r -o TARGET --format=raw -n
-F table --format=json -n -o TARGET /
-h audit
help help
version audit
search -name x
search -type f
search -maxdepth 1 x
search -print0 x
search -xdev x
search -lq x
search . *.nosuch
fstab -p /
fstab table
audit table
audit --only=fstab-sintax
audit --explain=FSTAB_ORDER
audit --include=root
audit -verbose
-- -x
ARGS
# help and version are commands.
for command in '' discover audit fstab profile recover search serve; do
	# shellcheck disable=SC2086
	cmp <(getmnt help $command) <(getmnt $command --help)
	# shellcheck disable=SC2086
	cmp <(getmnt $command -V) <(getmnt version)
done
cmp <(getmnt version) <(getmnt -V)
# --verify is the audit of an fstab alone.
printf '/data ext4\n/dev/sda1 /x ext4 defualts 0 0\n' >tab
for args in "-x -F tab" "--tab-file tab --verify" "-x --fstab=tab" "-s -x --tab-file=tab"; do
	# shellcheck disable=SC2086
	cmp <(getmnt $args 2>&1; echo $?) <(getmnt audit '--only=FSTAB-*' --fstab=tab 2>&1; echo $?)
done
