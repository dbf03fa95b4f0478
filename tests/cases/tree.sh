# The default form: a tree, on the recorded table of a host.
status -F "$(table cli/host)"
