status --format=dot -F "$(table cli/stacked)"
