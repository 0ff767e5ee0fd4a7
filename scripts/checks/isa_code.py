#!/usr/bin/env python3
"""Compares the machine code of the kernels of two builds, for every dtype and instruction set, also for those that this
machine cannot run. Functions may have other names and lie in other files; their bodies must be identical: instructions
without addresses, a jump as the number of the instruction it leads to, a constant as its bytes, and the bodies of the
functions called. Tables of pointers are not compared. Exit code 0 if all is identical, 1 if not."""
import collections
import pathlib
import re
import subprocess
import sys

LINE = re.compile(r"\s*([0-9a-f]+):\t([^\t]*)((?:\t[0-9a-f]+: R_\S+\t\S+)*)\s*$")
RELOCATION = re.compile(r"\t([0-9a-f]+): (R_\S+)\t(\S+?)([+-]0x[0-9a-f]+)?(?=\t|\s*$)")
SYMBOL = re.compile(r"([0-9a-f]+) .{7} (\S+)\t[0-9a-f]+ (?:\.hidden )?(\S+)$")
PADDING = re.compile(r"(data16 |cs )*(nop[wl]?\b|xchg %ax,%ax)")
JUMP = re.compile(r"\b([0-9a-f]+) <([^>+]*)[^>]*>$")


def output(*command, text=None):
    return subprocess.run(command, input=text, check=True, capture_output=True, text=True).stdout.splitlines()


def width(instruction):
    """How many bytes an instruction reads from memory."""
    name, _, operands = instruction.partition(" ")
    if "{1to" in operands or re.search(r"broadcast|[^p]s[sd]$|mov[dq]$|ddup$|movhps$", name):
        return 8 if re.search(r"(sd|pd|q|ddup|hps)$", name) else 4
    sizes = {"zmm": 64, "ymm": 32, "xmm": 16, "%e": 4}
    return next((size for register, size in sizes.items() if register in operands), 8)


class Object:
    """An object file: its functions as (name, body, names of what it calls)."""

    def __init__(self, file):
        matches = filter(None, map(SYMBOL.match, output("objdump", "-t", file)))
        self.symbols = {match[3]: (match[2], int(match[1], 16)) for match in matches}
        self.bytes, section = collections.defaultdict(dict), ""
        for line in output("objdump", "-s", file):
            if line.startswith("Contents of section "):
                section = line[len("Contents of section "):-1]
            elif section.startswith(".rodata"):
                at, data = line[1:].split(" ", 1)
                for i, byte in enumerate(bytes.fromhex(data[:35])):
                    self.bytes[section][int(at, 16) + i] = byte
        self.functions = [self.function(*named_code) for named_code in self.disassembled(file)]

    @staticmethod
    def disassembled(file):
        found = []
        for line in output("objdump", "-drw", "--no-show-raw-insn", file):
            if head := re.match(r"[0-9a-f]+ <(.+)>:$", line):
                found.append((head[1], []))
            elif match := LINE.match(line):
                text = re.sub(r"\s+", " ", match[2].split("#")[0]).strip()
                found[-1][1].append((int(match[1], 16), text, RELOCATION.findall(match[3])))
            elif line.startswith(" "):
                sys.exit(f"error: {file}: this line of objdump is not understood: {line}")
        return found

    def reference(self, instruction, next_at, relocation):
        """What a relocation stands for, without a name that can change: a constant's bytes, or the function called."""
        place, kind, symbol, addend = relocation
        section, value = self.symbols.get(symbol, (symbol, 0))
        if section.startswith(".rodata"):
            target = value + int(addend or "0", 16) + ("PC32" in kind) * (next_at - int(place, 16))
            length = 0 if instruction.startswith("lea") else width(instruction)  # a table of a switch, or a constant
            return "rodata " + bytes(self.bytes[section].get(target + i, 0) for i in range(length)).hex(), None
        if section.startswith(".text") or symbol.startswith("_ZN5xtape"):
            return "function", symbol
        return (symbol if section == "*UND*" else "data"), None  # what is not of this library keeps its name

    def function(self, name, code):
        numbers, number = {}, sum(not PADDING.match(text) for _, text, _ in code)
        for at, text, _ in reversed(code):  # a jump to padding leads to what follows it
            number -= not PADDING.match(text)
            numbers[at] = number
        body, calls = [], []
        for (_, text, relocations), (next_at, _, _) in zip(code, code[1:] + [(0, "", [])]):
            jump = JUMP.search(text)
            if relocations:
                found = [self.reference(text, next_at, relocation) for relocation in relocations]
                calls += [target for _, target in found if target]
                text = JUMP.sub("", text) + " ".join(what for what, _ in found)
            elif jump and int(jump[1], 16) in numbers:
                text = JUMP.sub(f"to {numbers[int(jump[1], 16)]}", text)
            elif jump:  # of another function of this file
                calls.append(jump[2])
                text = JUMP.sub("function", text)
            if not PADDING.match(text):
                body.append(text)
        return name, "\n".join(body), calls


def objects(build):
    """The object files of the kernels by dtype and instruction set: those that the build makes, no old ones."""
    found = collections.defaultdict(list)
    text = (build / "build.ninja").read_text()
    for path, dtype, isa in re.findall(r"^build (CMakeFiles/xtape_(f\d\d)_kernels_(\w+)\.dir/\S+\.o):", text, re.M):
        found[dtype, isa].append(build / path)
    return {key: files for key, files in found.items() if all(file.exists() for file in files)}


def functions(files):
    """The names of functions by body; and the same by the bodies of a function and of what it calls."""
    found = [(file, *function) for file in files for function in Object(file).functions]
    bodies = {(place, name): body for file, name, body, _ in found for place in (file, None)}
    plain, calling = collections.defaultdict(list), collections.defaultdict(list)
    for file, name, body, calls in found:
        plain[body].append(name)
        calling[body, *(bodies.get((file, c)) or bodies.get((None, c), "other") for c in calls)].append(name)
    return plain, calling


def without_partner(one, other):
    names = "\n".join(name for body, names in one.items() if body not in other for name in names)
    noise = re.compile(r"xtape::f\d\d::kernels::(\w+::(?=\())?|\(anonymous namespace\)::")
    return sorted(noise.sub("", line)[:160] for line in output("c++filt", text=names))


def compare(old, new):
    """Prints what differs between the files of two builds; returns whether something does."""
    (before, before_calling), (after, after_calling) = functions(old), functions(new)
    lists = {"only in OLD": without_partner(before, after), "only in NEW": without_partner(after, before)}
    total = sum(map(len, before.values()))
    print(f"{total - len(lists['only in OLD'])} of {total} functions identical")
    if not any(lists.values()):
        lists = {"calls something else in NEW": without_partner(before_calling, after_calling)}
    for title, names in lists.items():
        print("".join(f"  {title}: {name}\n" for name in names), end="")
    return any(lists.values())


def main():
    if len(sys.argv) != 3:
        sys.exit(f"usage: isa_code.py OLD_BUILD NEW_BUILD\n{__doc__}")
    old, new = (objects(pathlib.Path(build)) for build in sys.argv[1:])
    same = bool(old)
    for key in sorted(old.keys() | new.keys()):
        print("code", *key, end=": ")
        if key in old and key in new:
            same &= not compare(old[key], new[key])
        else:
            print(f"not compared: not built in {'NEW' if key in old else 'OLD'}")
            same = False
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
