# A PID that is not there: named, with what to do.
status --task 4194304
status --task 999999999999
status --task 0
status --task x
