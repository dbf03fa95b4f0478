# --poll: what does not go with it, each refused by name; status 1, nothing printed.
host=$(table cli/host)
while IFS= read -r args; do
	echo "== --poll $args"
	# shellcheck disable=SC2086
	getmnt --poll $args >out 2>err
	echo "status $?, $(wc -c <out) bytes out"
	cat err
done <<ARGS
-J
--json
--format=mtab
--format=dot
--format=tree
--tree
-F $(basename "$host")
-s
-m
--root=/
--names=hint
--names=walk
-D
-I
--boundaries
--explain
--unmounted
--shadowed
-U
-d backward
-c
--max-time=5
-o STATE
-o +SIZE,ID
-o NOSUCH
-w x
-w 1.5
-w 2147483648
--timeout=
--timeout=1s
-l --tree
-S /dev/sda1 /mnt
ARGS
for args in --poll=nosuch --poll= "--poll=mount," --poll=,mount --poll=+ --poll=Mount -pmountain "-p -w"; do
	echo "== $args"
	# shellcheck disable=SC2086
	getmnt $args >out 2>err
	echo "status $?, $(wc -c <out) bytes out"
	cat err
done
# Without it, -w means nothing, and what it alone has is empty.
status -w 5
status -F "$host" -r -n -o ACTION,OLD-TARGET,OLD-OPTIONS,OLD-PROPAGATION,TARGET -M /
# Each option names its unit and what it requires.
for args in --timeout=5 "--probe --timeout=0" "--probe --timeout=-1" "--probe --timeout=100ms" "--probe -w 100" "--poll -w 5 --timeout=5" \
	"--poll --timeout=0.5" "--max-time=1s"; do
	# shellcheck disable=SC2086
	status $args
done
# What was typed is shown, not sent to the terminal.
status --poll=$'\e[2J'
status -p -w $'\e[2J'
