# 300 hostile names are read back from every form by other programs, with the bytes that they have.
# Without jq or Graphviz what these read is left out.
python3 "$TOP/tests/lib/round.py" "$GETMNT" | grep -v '^SVG'
