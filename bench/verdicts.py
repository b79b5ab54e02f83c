"""Verdicts: each figure of a measuring program beside its goal, and the exit code that says whether all were held.

    verdicts = Verdicts()
    verdicts.at_least("recall of doses", 0.996, 0.95)
    verdicts.at_most("worker and server, MB", 134, 150, form=".0f")
    sys.exit(verdicts.end())

A figure that could not be taken (nan) is missed, and so is everything when nothing was judged: a program that measured nothing has shown nothing.
"""


class Verdicts:
    def __init__(self):
        self.rows = []  # (name, figure, goal, form, held); goal and held are None for what is told without one.

    def at_least(self, name, figure, goal, form=".3f"):
        return self._add(name, figure, f">= {goal:{form}}", form, figure >= goal)

    def at_most(self, name, figure, goal, form=".3f"):
        return self._add(name, figure, f"<= {goal:{form}}", form, figure <= goal)

    def told(self, name, figure, form=".3f"):
        """A figure that no goal is set for."""
        self.rows.append((name, figure, None, form, None))

    def _add(self, name, figure, goal, form, held):
        held = bool(held)  # Comparisons with nan are false.
        self.rows.append((name, figure, goal, form, held))
        return held

    def lines(self):
        width = max((len(row[0]) for row in self.rows), default=0)
        for name, figure, goal, form, held in self.rows:
            rest = "no goal" if goal is None else f"goal {goal:9}  {'held' if held else 'MISSED'}"
            yield f"{name:{width}} {figure:>10{form}}   {rest}"

    def missed(self):
        judged = [row for row in self.rows if row[2] is not None]
        return not judged or any(not row[4] for row in judged)

    def end(self):
        """Prints every row; the exit code."""
        for line in self.lines():
            print(line)
        if all(row[2] is None for row in self.rows):
            print("MISSED: nothing was judged")
        return 1 if self.missed() else 0
