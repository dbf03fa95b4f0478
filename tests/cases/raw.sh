status -F "$(table cli/hostile)" -r
