status --format=fstab -F "$(table cli/host)"
