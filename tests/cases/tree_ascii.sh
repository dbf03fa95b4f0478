# ASCII by option, and where the locale has no UTF-8.
getmnt -F "$(table cli/host)" -a -o TARGET
LC_ALL=C getmnt -F "$(table cli/host)" -o TARGET | cmp - <(getmnt -F "$(table cli/host)" -a -o TARGET) && echo same
