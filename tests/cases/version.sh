# -V prints versions and kernel features.
getmnt -V | sed -E 's/[0-9]+(\.[0-9]+)+/N/g; s/(yes|no)$/X/' | head -n 2
getmnt -V >out
for word in libmount libblkid libsmartcols listmount statx openat2; do
	grep -q "$word" out && echo "$word"
done
