# A table from standard input, and from a pipe.
getmnt -F - -l -n -o TARGET <"$(table cli/chroot)"
status -F <(cat "$(table cli/chroot)") -l -n -o TARGET
