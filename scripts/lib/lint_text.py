"""Checks of text that need no other program: lint_text.py FORBIDDEN_WORDS, names of files on the standard input.

Prints one line for each finding, which begins with its kind: names, text or python.
"""
import io
import re
import sys
import tokenize

BINARY = (".safetensors", ".webp", ".npy")
SELF = ("scripts/lib/forbidden_words.txt", "scripts/lib/lint_text.py")

C_LIKE = re.compile(r'''//[^\n]*|/\*.*?\*/|R"([^()\\\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'''
                    r"""|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|`(?:\\.|[^`\\])*`""", re.S)
SCRIPT_LIKE = re.compile(r'''"(?:\\.|[^"\\\n])*"|'[^'\n]*'|(?:^|(?<=\s))#[^\n]*''')
LANGUAGES = {".cpp": C_LIKE, ".hpp": C_LIKE, ".js": C_LIKE, ".cmake": SCRIPT_LIKE, ".sh": SCRIPT_LIKE}

FORBIDDEN_TEXT = (
    (re.compile(r"\.\./shared"), "a file outside of the repository"),
    (re.compile(r"(?<![\w$}.:/])/(?:work|root|home)/\w+"), "a path of one machine"),
    (re.compile(r"\b(?:deb\.debian\.org|pypi\.org|pythonhosted\.org|npmjs\.org|proxy\.golang\.org|crates\.io|docker\.io"
                r"|ghcr\.io|artifactory)\b"), "the host of a registry"),
    (re.compile(r"\b[ONKMP]-\d\d\b"), "the number of a case in a private list"),
)


def read_words(path):
    """Returns {word: what to use instead} and the names that may have such words, longest first."""
    words, allowed = {}, []
    for line in open(path, encoding="utf-8"):
        if line.startswith("#") or not line.strip():
            continue
        word, use, *names = line.rstrip("\n").split("\t")
        words[word] = use
        allowed += names[0].split() if names else []
    return words, sorted(allowed, key=len, reverse=True)


def parts(name, allowed):
    """The parts of a name in lower case: GradientSlope_of has gradient, slope and of."""
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    for phrase in allowed:
        name = re.sub(rf"(?<![a-z]){phrase}(?![a-z])", "", name)
    return re.split(r"[^a-z]+", name)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def code(path, text):
    """The text without comments and strings, or nothing if the language is not known."""
    if path.endswith(".py"):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        lines = [""] * (text.count("\n") + 2)
        for token in tokens:
            if token.type == tokenize.NAME:
                lines[token.start[0] - 1] += token.string + " "
        return "\n".join(lines)
    if path.endswith("CMakeLists.txt"):
        path = ".cmake"
    for ending, pattern in LANGUAGES.items():
        if path.endswith(ending):
            return pattern.sub(blank, text)
    return ""


def check_names(path, text, words, allowed):
    for part in parts(path, allowed):
        if part in words:
            print(f"names: {path}: the file's name has '{part}': use {words[part]}")
    seen = {}
    for number, line in enumerate(code(path, text).split("\n"), 1):
        for name in re.findall(r"[A-Za-z_]\w*", line):
            seen.setdefault(name, []).append(number)
    for name, lines in seen.items():
        for part in dict.fromkeys(parts(name, allowed)):
            if part in words:
                times = f", {len(lines)} times" if len(lines) > 1 else ""
                print(f"names: {path}:{lines[0]}: {name}{times}: not '{part}' but {words[part]}")


def check_text(path, text):
    if text and not text.endswith("\n"):
        print(f"text: {path}: no line end at the end")
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip():
            print(f"text: {path}:{number}: white space at the end of the line")
        if "\t" in line and path.endswith((".cpp", ".hpp")):
            print(f"text: {path}:{number}: a tab")
        for pattern, what in FORBIDDEN_TEXT:
            found = pattern.search(line)
            if found and path not in SELF:
                print(f"text: {path}:{number}: {what}: {found.group()}")


def main():
    words, allowed = read_words(sys.argv[1])
    for path in sys.stdin.read().splitlines():
        if path.endswith(BINARY) or ".tfevents." in path:
            continue
        try:
            text = open(path, encoding="utf-8", newline="").read()
            if path.endswith(".py"):
                compile(text, path, "exec")
            check_text(path, text)
            check_names(path, text, words, allowed)
        except UnicodeDecodeError:
            print(f"text: {path}: not UTF-8")
        except SyntaxError as error:
            print(f"python: {path}:{error.lineno}: {error.msg}")


main()
