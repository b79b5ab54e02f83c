"""Reads the plain kind of YAML that deploy/prometheus is written in: mappings, lists, scalars, quoted texts, and blocks behind | and >-.

Anything else (anchors, flow lists, several documents) is refused: a file that this reads means the same to every YAML reader.
"""
import re


class YamlError(Exception):
    pass


def _scalar(text, number):
    text = text.strip()
    if text[:1] == '"':
        if not re.fullmatch(r'"(?:[^"\\]|\\["\\n])*"', text):
            raise YamlError(f"line {number}: quoted text")
        return text[1:-1].replace('\\"', '"').replace("\\n", "\n").replace("\\\\", "\\")
    if text[:1] == "'":
        if not re.fullmatch(r"'(?:[^']|'')*'", text):
            raise YamlError(f"line {number}: quoted text")
        return text[1:-1].replace("''", "'")
    if text[:1] in "[]{}&*!%@`," or ": " in text or " #" in text:
        raise YamlError(f"line {number}: {text!r} must be quoted")
    if text in ("true", "false"):
        return text == "true"
    if text in ("", "null", "~"):
        return None
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if re.fullmatch(r"-?\d+\.\d+", text):
        return float(text)
    return text


class _Lines:
    def __init__(self, text):
        self.lines = [(number, line.rstrip()) for number, line in enumerate(text.split("\n"), 1)]
        self.at = 0

    def peek(self):
        """(indent, content, number) of the next line that says something."""
        while self.at < len(self.lines):
            number, line = self.lines[self.at]
            if "\t" in line:
                raise YamlError(f"line {number}: a tab")
            content = line.strip()
            if content and not content.startswith("#"):
                return len(line) - len(line.lstrip()), content, number
            self.at += 1
        return None

    def block(self, indent, folded):
        """The lines behind | or >- that stand further in than `indent`."""
        out, inner = [], None
        while self.at < len(self.lines):
            _, line = self.lines[self.at]
            here = len(line) - len(line.lstrip())
            if line.strip() and here <= indent:
                break
            if line.strip():
                inner = here if inner is None else inner
                out.append(line[inner:])
            elif out:
                out.append("")
            self.at += 1
        text = (" " if folded else "\n").join(out)
        return text.strip()


def _value(lines, indent, rest, number):
    if rest in ("|", "|-", ">", ">-"):
        return lines.block(indent, rest[0] == ">")
    if rest:
        return _scalar(rest, number)
    following = lines.peek()
    if following and (following[0] > indent or (following[0] == indent and following[1].startswith("- "))):
        return _node(lines, following[0])
    return None


def _node(lines, indent):
    _, content, _ = lines.peek()
    return _list(lines, indent) if content == "-" or content.startswith("- ") else _mapping(lines, indent)


def _list(lines, indent):
    out = []
    while (line := lines.peek()) and line[0] == indent and (line[1] == "-" or line[1].startswith("- ")):
        _, content, number = line
        rest = content[1:].strip()
        if re.match(r"[A-Za-z_][\w./-]*:( |$)", rest):
            # A mapping that begins behind the dash: read it as if it stood on lines of its own.
            inner = indent + content.index(rest, 1)
            lines.lines[lines.at] = (number, " " * inner + rest)
            out.append(_mapping(lines, inner))
        else:
            lines.at += 1
            out.append(_value(lines, indent, rest, number))
    return out


def _mapping(lines, indent):
    out = {}
    while (line := lines.peek()) and line[0] == indent:
        _, content, number = line
        match = re.match(r"([A-Za-z_][\w./-]*):(?: +(.*))?$", content)
        if not match:
            raise YamlError(f"line {number}: neither a key nor a list: {content!r}")
        name = match.group(1)
        if name in out:
            raise YamlError(f"line {number}: {name} stands there twice")
        lines.at += 1
        out[name] = _value(lines, indent, (match.group(2) or "").strip(), number)
    return out


def load(text):
    lines = _Lines(text)
    first = lines.peek()
    if first is None:
        return None
    value = _node(lines, first[0])
    if left := lines.peek():
        raise YamlError(f"line {left[2]}: it stands too far {'in' if left[0] > first[0] else 'out'}")
    return value
