# SPDX-License-Identifier: MIT
"""Some seconds of the soak; `make soak` is an hour of it."""
import soak

soak.soak(seconds=8, every=2, rate=400)
