# Pairs, and that sh reads back what they hold.
status -F "$(table cli/hostile)" -P -o TARGET,SOURCE
getmnt -F "$(table cli/hostile)" -P -o TARGET,SOURCE | while IFS= read -r line; do
	eval "$line" && printf '%s\n' "${TARGET@Q}"
done
