"""Opens pages in headless Chromium and checks them: browser.py CHROMIUM DIRECTORY.

DIRECTORY holds the pages and expected.json, a list of {"page": file, "checks": {...}} that checks.js understands.
The pages are shown in an iframe of checks.html, which is how a width of 390 px is reached, and are not changed.
Prints one line a fault and exits with 1 if there is one.
"""
import functools
import html
import http.server
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 240


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def dom_and_console(chromium, address):
    """The document after its scripts ran, and what was written on the console."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", f"--user-data-dir={profile}",
             "--enable-logging=stderr", "--window-size=1300,1000", "--virtual-time-budget=120000", "--dump-dom", address],
            capture_output=True, text=True, errors="replace", timeout=SECONDS)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def main(chromium, directory):
    for name in ("checks.html", "checks.js"):
        shutil.copy(HERE / name, pathlib.Path(directory) / name)
    handler = functools.partial(Quiet, directory=directory)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        dom, console = dom_and_console(chromium, f"http://127.0.0.1:{server.server_port}/checks.html")
        server.shutdown()
    found = re.search(r'<pre id="results">(.*?)</pre>', dom, re.S)
    if not found or not found.group(1).strip():
        print("the checks did not come to an end", *console, dom[-2000:], sep="\n")
        return 1
    results = json.loads(html.unescape(found.group(1)))
    faults = [f"{r['page']}: {text}" for r in results["pages"] for text in r["faults"]]
    faults += [f"console: {line}" for line in console]
    print(*faults, sep="\n")
    print(f"{len(results['pages'])} pages, {results['checks']} checks, {len(faults)} faults")
    expected = json.loads((pathlib.Path(directory) / "expected.json").read_text())
    return 1 if faults or len(results["pages"]) != len(expected) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
