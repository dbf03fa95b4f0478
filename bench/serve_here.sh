#!/bin/sh
# The other end of --rsh in bench/study_search.py: the server is this machine.
#     serve_here.sh GETMNT HOST COMMAND...
exec "$1" serve --stdio
