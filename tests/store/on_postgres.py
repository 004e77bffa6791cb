#!/usr/bin/env python3
"""Runs a program against an empty database of a temporary PostgreSQL cluster: on_postgres.py PROGRAM ARG…

@URL@ in an argument is the database's address. Exit code 77 (skipped) when PostgreSQL is not installed.
"""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from harness.check import Skip  # noqa: E402
from harness.postgres import Cluster  # noqa: E402


def main():
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        try:
            cluster = Cluster(f"{directory}/cluster").create()
        except Skip as skip:
            print(f"skipped: {skip}")
            return 77
        try:
            url = cluster.new_database()
            return subprocess.run([argument.replace("@URL@", url) for argument in sys.argv[1:]], check=False).returncode
        finally:
            cluster.remove()


if __name__ == "__main__":
    sys.exit(main())
