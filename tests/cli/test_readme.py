"""Every block of the README, in order, as it stands, by a reader who has just fetched the project."""
import os
import re
import subprocess
import tempfile

from harness import check, test
from harness.server import ROOT
from harness.tree import read

OWN = ("data", "projects", "home", "copy.db", "copy.db.blobs")  # what the blocks make


def checkout_in(directory):
    """A directory that looks like the checkout; what is made in it does not land there."""
    for name in os.listdir(ROOT):
        if name not in OWN:
            os.symlink(os.path.join(ROOT, name), os.path.join(directory, name))


@test(timeout_s=300)
def every_block_of_the_readme_works(program):
    """In a network of its own, because the README speaks of port 7070."""
    directory = tempfile.mkdtemp(prefix="readme-", dir=os.environ["SOJOURN_TEST_DIRECTORY"])
    checkout_in(directory)
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("SOJOURN_") and not name.endswith("_API_KEY") and not name.startswith("MAKE")}
    result = subprocess.run(
        ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "python3",
         os.path.join(ROOT, "tests", "harness", "walk.py"), os.path.join(ROOT, "README.md"), directory],
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(result.stdout)
    check.equal(result.returncode, 0, "the walk")


@test
def every_block_of_the_readme_is_run():
    """A block without a language, or in one that the walk does not know, would be read by nobody."""
    pictures = ("How it works",)
    for title, section in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", read("README.md"), re.M | re.S):
        opened = re.findall(r"^```(.*)$", section, re.M)[::2]
        strange = [word for word in opened if not re.fullmatch(r"sh( server| stream| terminal)?|text", word)]
        if title not in pictures:
            check.equal(strange, [], f"blocks under {title}")
