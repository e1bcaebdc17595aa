#!/usr/bin/env python3
"""Sentences of what people read: `.ci/sentences.py` names each that has more than 30 words, and each that has a word of the program's inside.

README.md, docs/*.md, docs/contract, pictures of terminals, the manual, and texts in Sources and Apps/Sources, of which help and messages are made. docs/decisions and CHANGELOG.md are history.
"""

import glob
import os
import re
import sys
import textwrap

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
MOST = 30
# Parts of the program, and names of JSON: docs/glossary.md has them, and docs/decisions/0086-avahi-in-one-word.md what is said in their place.
INSIDE = re.compile(r"\b(?:finder|publisher|backend|engine|wire|warm|settled|degraded|attached|registration)s?\b", re.I)
# For who changes the program or measures it; names of JSON; names of the library.
FOR_DEVELOPERS = {f"docs/{name}.md" for name in (
    "architecture", "glossary", "rfc6762", "testing", "reliability", "performance", "conformance", "contract", "api", "network-framework")}
ABBREVIATIONS = ("e.g.", "i.e.", "etc.", "vs.", "cf.")


def split(text):
    """The sentences of running text: what stands in code blocks, headings and links is none."""
    text = re.sub(r"```.*?```", "\n\n", text, flags=re.S)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    # A list of statuses is one.
    text = re.sub(r"Exit status:[^\n]*(?:\n[^\n]+)*", lambda found: re.sub(r"[,;]\s+", "\n\n", found[0]), text)
    parts = re.split(r"\n\s*\n|\n\s*(?:[-*#|]|\d+\.) *|\s\| |\n    ", text)
    for part in parts:
        begun = []
        for word in part.split():
            begun.append(word)
            if re.search(r"[\w)`\"'’*\]%=][.!?][*)\"'’`]*$", word) and word not in ABBREVIATIONS:
                yield " ".join(begun)
                begun = []
        if begun:
            yield " ".join(begun)


def words(sentence):
    return sum(any(character.isalnum() for character in word) for word in sentence.split())


def source(page):
    """The running text of a manual page in mdoc, without its synopsis and examples."""
    text = open(page, encoding="utf-8").read()
    text = re.sub(r"^\.Sh SYNOPSIS\n.*?(?=^\.S[hs])", "", text, flags=re.S | re.M)
    text = re.sub(r"^\.Bd .*?^\.Ed\n", "\n", text, flags=re.S | re.M)
    text = re.sub(r"^\.It Xo\n.*?^\.Xc\n", "\n\n", text, flags=re.S | re.M)
    text = re.sub(r"^\.(Sh|Ss|It|Pp|Bl|El|Dd|Dt|Os|Nd).*$", "\n", text, flags=re.M)
    text = re.sub(r"\\f[BPI]|\\&", "", text).replace("\\-", "-").replace("\\e", "\\")
    return re.sub(r" ([.,;:])$", r"\1", re.sub(r"^\.[A-Z][a-z] ?", "", text, flags=re.M), flags=re.M)


def literals(file):
    """The texts of a Swift file; those that `+` joins are one."""
    code = open(file, encoding="utf-8").read()
    code = re.sub(r"^\s*//.*$", "", code, flags=re.M)
    for match in re.finditer(r'"""\n(.*?)"""', code, flags=re.S):
        yield re.sub(r"^  +", "\n    ", textwrap.dedent(re.sub(r"\\\n\s*", "", match[1])), flags=re.M)
    code = re.sub(r'"""\n.*?"""', '""', code, flags=re.S)
    one = r'"(?:[^"\\\n]|\\\((?:[^()"]|"[^"\n]*"|\((?:[^()]|\([^()]*\))*\))*\)|\\.)*"'
    for match in re.finditer(rf"{one}(?:\s*\+\s*{one})*", code):
        text = re.sub(r"\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "X", match[0])
        yield "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace("\\n", "\n\n")


def named(text):
    """Without names: code, options, paths, JSON and Swift in blocks, what a manual page has in bold."""
    text = re.sub(r"^```(?:swift|yaml)\n.*?^```", "", text, flags=re.S | re.M)
    text = re.sub(r"^(?:\{|\.(?:It )?(?:Cm|Fl|Pa|Li) ).*$", "", text, flags=re.M)
    return re.sub(r"`[^`\n]*`|\\fB.*?\\fP|\]\([^)]*\)|[-/]-?[a-z][a-z0-9/_.-]*|\{.*\}", "", text)


def inside():
    """Each word of the inside in documents, manual and messages, with its place."""
    for path in [f"{ROOT}/README.md", *glob.glob(f"{ROOT}/docs/*.md"), *glob.glob(f"{ROOT}/docs/apps/*.md"), *glob.glob(f"{ROOT}/docs/man/*.[157]")]:
        name = os.path.relpath(path, ROOT)
        if name not in FOR_DEVELOPERS:
            yield from ((name, found[0], line) for line in named(open(path, encoding="utf-8").read()).split("\n") if (found := INSIDE.search(line)))
    for room in ("Sources/Command", "Sources/Daemon", "Apps/Sources"):
        for path in glob.glob(f"{ROOT}/{room}/**/*.swift", recursive=True):
            # A single word is a name; `# settled` is a line of format=text, and `attached: anyone` one of the configuration.
            texts = (named(text) for text in literals(path) if " " in text and not re.match(r"# |[a-z]+: [a-z]+$", text))
            yield from ((os.path.relpath(path, ROOT), found[0], text) for text in texts if (found := INSIDE.search(text)))


def drawn():
    """Each such word in a picture of a terminal, with its line."""
    for path in [f"{ROOT}/docs/browse.svg", *glob.glob(f"{ROOT}/docs/apps/*.svg")]:
        for text in re.findall(r"<text.*?</text>", open(path, encoding="utf-8").read(), flags=re.S):
            line = re.sub(r"<[^>]+>", "", text)
            yield from ((os.path.relpath(path, ROOT), found[0], line) for found in [INSIDE.search(line)] if found)


def read():
    """What people read, by name."""
    for path in [f"{ROOT}/README.md", *sorted(glob.glob(f"{ROOT}/docs/*.md") + glob.glob(f"{ROOT}/docs/contract/*.md"))]:
        yield os.path.relpath(path, ROOT), open(path, encoding="utf-8").read()
    for path in sorted(glob.glob(f"{ROOT}/docs/man/*.[157]")):
        yield os.path.relpath(path, ROOT), source(path)
    for room in ("Sources", "Apps/Sources"):
        for path in sorted(glob.glob(f"{ROOT}/{room}/**/*.swift", recursive=True)):
            # The words that a key is read aloud by.
            for text in [] if path.endswith("/KeyFingerprint.swift") else literals(path):
                yield os.path.relpath(path, ROOT), text


def main():
    long = [(name, words(sentence), sentence) for name, text in read() for sentence in split(text) if words(sentence) > MOST]
    for name, count, sentence in long:
        print(f"check: {name}: a sentence of {count} words, and {MOST} are the most: {sentence}", file=sys.stderr)
    words_inside = sorted({*inside(), *drawn()})
    for name, word, text in words_inside:
        print(f"check: {name}: '{word}' is a word of the program's inside, and not for people: {text.strip()[:120]}", file=sys.stderr)
    return 1 if long or words_inside else 0


if __name__ == "__main__":
    sys.exit(main())
