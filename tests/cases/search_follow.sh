# search --follow finds what find -L finds, on random trees with links.
# shellcheck shell=bash
tree() {
	local at=(. ./a ./a/b ./c "./c/d e" ./c/f) to i
	rm -rf t out
	mkdir -p t/a/b "t/c/d e" t/c/f out/o
	for to in "${at[@]}"; do : >"t/$to/file"; done
	: >out/o/file
	ln -s "$PWD/t/a" out/o/back
	for ((i = 0; i < 5; i++)); do
		case $((RANDOM % 8)) in
		0) to=$PWD/out ;;
		1) to="file" ;;
		2) to=l$((RANDOM % 5)) ;;
		3) to=.. ;;
		4) to=../${at[RANDOM % 6]} ;;
		*) to=$PWD/t/${at[RANDOM % 6]} ;;
		esac
		ln -s "$to" "t/${at[RANDOM % 6]}/l$i"
	done
}
for seed in {1..40}; do
	# Under valgrind, where a run takes a second, some of them.
	[ -z "${GETMNT_WRAP-}" ] || [ $((seed % 9)) -eq 0 ] || continue
	RANDOM=$seed
	tree
	LC_ALL=C find -L t -mindepth 1 >found 2>errors
	sed -nE "s/^find: (File system loop detected; )?'([^']*)'( is part of.*|: Too many levels.*)/\2/p" \
		errors | sort >loops
	sort - found <loops >want
	for threads in 1 4; do
		getmnt search -L --threads=$threads "*" t 2>errors | sort >found
		cmp want found || echo "seed $seed: objects"
		sed -nE 's/^getmnt: ([^:]*): .*/\1/p' errors | sort | cmp loops - || echo "seed $seed: loops"
	done
done
