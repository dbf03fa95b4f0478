# Off a terminal nothing is cut, coloured or wrapped, whatever COLUMNS says.
getmnt -F "$(table cli/host)" -l >wide
COLUMNS=20 getmnt -F "$(table cli/host)" -l | cmp - wide && echo same
grep -c $'\033' wide
grep -o 'workdir=.*' wide
