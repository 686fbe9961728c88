"""Certificates made for tests."""

from __future__ import annotations

import subprocess
from pathlib import Path


def an_authority(file: Path) -> Path:
    """A certificate that signs itself."""
    words = ["-newkey", "rsa:2048", "-nodes", "-keyout", "/dev/null", "-subj", "/CN=other"]
    argv = ["openssl", "req", "-x509", *words, "-out", file]
    subprocess.run(argv, check=True, capture_output=True)
    return file
