"""Applies every step of CONTRIBUTING.md to a copy of the tree and runs its commands there: contributing_test.py TREE WORK.

An HTML comment before each code block says what it is:
  new FILE                    the block is this file
  insert FILE after "TEXT"    the block goes behind the only line of the file that has TEXT (or: before "TEXT")
  replace FILE "TEXT"         the block stands in place of TEXT, which the file has once
  append FILE                 the block goes to the end of the file
  run                         its commands are run in the copy, and must succeed
  run by FILE                 this script of the tree runs its commands
A block without such a comment is a fault.
"""
import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^(?P<indent> *)(?:<!-- (?P<what>[^\n]*) -->\n(?P=indent))?```\w+\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)
WHAT = re.compile(r'(?P<verb>new|insert|replace|append|run by|run)(?: (?P<file>[\w./]+))?'
                  r'(?: (?P<where>after|before))?(?: "(?P<mark>.*)")?')


def blocks(page):
    """The code blocks of a page with what stands before them; those inside lists are moved to the left."""
    for block in BLOCK.finditer(page):
        what = WHAT.fullmatch(block["what"] or "")
        if not what:
            sys.exit(f"CONTRIBUTING.md: a block without a known comment before it:\n{block['text']}")
        yield what, re.sub("^" + block["indent"], "", block["text"], flags=re.M)


def write(path, text):
    """Writes a file unless it holds the text already, so that nothing is built in vain."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_bytes() != text:
        path.write_bytes(text)


def changed(files, what, text):
    """The file that a step makes of those before it."""
    name, mark = what["file"], (what["mark"] or "").replace('\\"', '"')
    old = files.get(name, b"").decode()
    if what["verb"] == "new":
        return text
    if what["verb"] == "append":
        return old + text
    if what["verb"] == "replace":
        if old.count(mark) != 1:
            sys.exit(f"{name} has {old.count(mark)} places that read: {mark}")
        return old.replace(mark, text.strip())
    lines = old.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if mark in line]
    if len(places) != 1:
        sys.exit(f"{name} has {len(places)} lines with: {mark}")
    at = places[0] + (what["where"] == "after")
    return "".join(lines[:at]) + text + "".join(lines[at:])


def commands(text):
    return [line.split(" #")[0].rstrip() for line in text.splitlines() if line.strip()]


def check_elsewhere(tree, what, text):
    """Each script and its options are named by the other script."""
    script = (tree / what["file"]).read_text()
    for command in commands(text):
        if command not in script and not re.search(re.escape(command) + r"\b", script):
            sys.exit(f"{what['file']} does not run: {command}")


def main():
    tree, work = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    names = subprocess.run(["git", "-C", tree, "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    files = {name: (tree / name).read_bytes() for name in names.split("\0") if name and (tree / name).is_file()}
    steps = list(blocks(files["CONTRIBUTING.md"].decode()))
    for what, text in steps:
        if what["verb"] in ("new", "insert", "replace", "append"):
            files[what["file"]] = changed(files, what, text).encode()
        elif what["verb"] == "run by":
            check_elsewhere(tree, what, text)
    for name, content in files.items():
        write(work / name, content)
        os.chmod(work / name, (tree / name).stat().st_mode if (tree / name).exists() else 0o644)
    git = ["git", "-c", "user.name=A contributor", "-c", "user.email=contributor@example.org"]
    environment = dict(os.environ, GIT_AUTHOR_NAME="A contributor", GIT_AUTHOR_EMAIL="contributor@example.org",
                       GIT_COMMITTER_NAME="A contributor", GIT_COMMITTER_EMAIL="contributor@example.org")
    subprocess.run(["rm", "-rf", ".git"], cwd=work, check=True)
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "Start"]):
        subprocess.run(git + command, cwd=work, check=True, env=environment)
    count = 0
    for what, text in steps:
        for command in commands(text) if what["verb"] == "run" else []:
            print("$", command, flush=True)
            subprocess.run(["bash", "-c", command], cwd=work, check=True, env=environment)
            count += 1
    print(f"CONTRIBUTING.md: {len(steps)} blocks, {count} commands, all as it says")


if __name__ == "__main__":
    main()
