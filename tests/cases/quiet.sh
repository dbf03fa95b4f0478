status -q -F "$(table cli/host)"
status -q -F "$(table cli/host)" -t xyzfs
