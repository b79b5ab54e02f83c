"""Reads PromQL as far as our rules and panels use it: is it well-formed, and which metrics and labels does it name?"""
import re

AGGREGATIONS = {"sum", "min", "max", "avg", "count", "topk", "bottomk", "quantile", "stddev"}
# Name: how many arguments, and which of them (from 0) is a range.
FUNCTIONS = {"rate": (1, 0), "increase": (1, 0), "irate": (1, 0), "delta": (1, 0), "deriv": (1, 0), "changes": (1, 0), "resets": (1, 0),
             "avg_over_time": (1, 0), "max_over_time": (1, 0), "min_over_time": (1, 0), "histogram_quantile": (2, None), "clamp_min": (2, None),
             "clamp_max": (2, None), "absent": (1, None), "time": (0, None), "vector": (1, None), "scalar": (1, None), "abs": (1, None),
             "label_replace": (5, None), "round": (1, None), "sort_desc": (1, None)}
OPERATORS = [("or",), ("and", "unless"), ("==", "!=", "<=", ">=", "<", ">"), ("+", "-"), ("*", "/", "%"), ("^",)]
TOKEN = re.compile(r"""\s*(?:
    (?P<string>"(?:[^"\\]|\\.)*")
  | (?P<duration>\d+(?:ms|[smhdwy])(?:\d+(?:ms|[smhdwy]))*)
  | (?P<variable>\$__[a-z_]+|\$[a-z_]+)
  | (?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)
  | (?P<name>[A-Za-z_:][A-Za-z0-9_:]*)
  | (?P<sign>==|!=|<=|>=|=~|!~|[-+*/%^<>=(){}\[\],:])
)""", re.VERBOSE)


class PromqlError(Exception):
    pass


class Expression:
    """metrics: {name: set of labels that are named with it}."""

    def __init__(self, text):
        self.text = text
        self.tokens = []
        at = 0
        while text[at:].strip():
            match = TOKEN.match(text, at)
            if not match:
                raise PromqlError(f"{text!r}: not understood at {text[at:at + 20]!r}")
            self.tokens.append((match.lastgroup, match.group(match.lastgroup)))
            at = match.end()
        self.at = 0
        self.metrics = {}
        self.binary(0)
        if self.at < len(self.tokens):
            self.fail("the end")

    # ---- tokens

    def fail(self, wanted):
        found = self.tokens[self.at][1] if self.at < len(self.tokens) else "the end"
        raise PromqlError(f"{self.text!r}: {wanted} is missing before {found!r}")

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else (None, None)

    def take(self, value=None, kind=None):
        found_kind, found = self.peek()
        if found is None or (value is not None and found != value) or (kind is not None and found_kind != kind):
            self.fail(value or kind)
        self.at += 1
        return found

    def accept(self, *values):
        if self.peek()[1] in values:
            return self.take()
        return None

    # ---- grammar

    def binary(self, level):
        if level == len(OPERATORS):
            self.unary()
            return
        self.binary(level + 1)
        while self.accept(*OPERATORS[level]):
            self.accept("bool")
            if self.accept("on", "ignoring"):
                self.labels()
                if self.accept("group_left", "group_right") and self.peek()[1] == "(":
                    self.labels()
            self.binary(level + 1)

    def unary(self):
        self.accept("-", "+")
        kind, value = self.peek()
        if value == "(":
            self.take("(")
            self.binary(0)
            self.take(")")
            self.range_or_offset(False)
            return
        if kind in ("number", "string", "variable"):
            self.take()
            return
        if kind != "name":
            self.fail("an expression")
        following = self.tokens[self.at + 1][1] if self.at + 1 < len(self.tokens) else None
        if value in AGGREGATIONS and following in ("(", "by", "without"):
            self.aggregation()
        elif following == "(":
            self.function()
        else:
            self.selector(False)

    def aggregation(self):
        self.take(kind="name")
        if self.accept("by", "without"):
            self.labels()
        self.take("(")
        self.binary(0)
        while self.accept(","):
            self.binary(0)
        self.take(")")
        if self.accept("by", "without"):
            self.labels()

    def function(self):
        name = self.take(kind="name")
        if name not in FUNCTIONS:
            raise PromqlError(f"{self.text!r}: there is no function {name}")
        count, range_argument = FUNCTIONS[name]
        self.take("(")
        given = 0
        while self.peek()[1] != ")":
            if given:
                self.take(",")
            if given == range_argument:
                self.selector(True)
            else:
                self.binary(0)
            given += 1
        self.take(")")
        if given != count:
            raise PromqlError(f"{self.text!r}: {name} takes {count} arguments")

    def selector(self, with_range):
        name = self.take(kind="name")
        labels = self.metrics.setdefault(name, set())
        if self.accept("{"):
            while not self.accept("}"):
                labels.add(self.take(kind="name"))
                if not self.accept("=", "!=", "=~", "!~"):
                    self.fail("an operator")
                if self.peek()[0] not in ("string",):
                    self.fail("a quoted text")
                self.take()
                if self.peek()[1] != "}":
                    self.take(",")
        self.range_or_offset(with_range)

    def range_or_offset(self, needed):
        if self.accept("["):
            if not needed:
                self.fail("a function around a range")
            if self.peek()[0] not in ("duration", "variable"):
                self.fail("a duration")
            self.take()
            self.take("]")
        elif needed:
            self.fail("[range]")
        if self.accept("offset"):
            self.take(kind="duration")

    def labels(self):
        self.take("(")
        while not self.accept(")"):
            self.take(kind="name")
            if self.peek()[1] != ")":
                self.take(",")
