# mtab, fstab and setmnt, with names that need escapes.
for form in mtab fstab setmnt; do
	echo "== $form"
	status --format=$form -F "$(table cli/hostile)"
done
