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
