# Bad tables: object, reason and what to do; nothing in silence.
cp "$(table cli/should-fail-lines)" lines
cp "$(table cli/should-fail-binary)" binary
mkdir folder
status -F lines -l -n -o TARGET
status -F binary
status -F folder
status -F nosuchfile
status -F ''
mkfifo pipe
timeout 10 "$GETMNT" -F pipe
echo "a pipe that nobody writes to: status $?"
status -F /dev/null
status -F /dev/zero
status -F - </dev/zero
status -F - </dev/null
status -F - <folder
# An fstab or mtab that is binary.
for form in -s -m; do
	status $form -F binary
	status $form -F /bin/ls
done
printf '/dev/a /a ext4 defaults 0 0\n\0\0\0' >padded
status -s -F padded
