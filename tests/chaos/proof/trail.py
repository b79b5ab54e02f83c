"""The audit of one job as a word: a letter for each record. Most jobs of a run have the same few words, so a word is judged once."""
import functools

LETTERS = {"enqueued": "e", "claimed": "c", "completed": "C", "failed": "F", "cancelled": "X", "retried": "r", "rescheduled": "s",
           "reclaimed": "l", "handed_back": "h", "redriven": "d", "cancel_requested": "q", "run_now": "n"}
NAMES = {letter: name for name, letter in LETTERS.items()}
FINALS = "CFX"
# They end a lease. Failed and cancelled, and an operator's rescheduling, can also happen to a job that waits.
ENDS = "CFXrslh"
ENDS_OF_LEASES_ONLY = "Crlh"
# Acts that move nothing.
REMARKS = "qn"


class Trail:
    __slots__ = ("state", "claims", "claims_now", "ends", "final", "problem", "counts")

    def __init__(self):
        self.state = None  # waiting, leased, final
        self.claims = 0  # In all generations,
        self.claims_now = 0  # in the last one.
        self.ends = 0  # Of leases.
        self.final = None
        self.problem = None
        self.counts = dict.fromkeys(NAMES, 0)

    def follow(self, letter):
        """Takes one record more; a text when it cannot follow what came before."""
        state, name = self.state, NAMES[letter]
        self.counts[letter] += 1
        if letter == "e":
            self.state = "waiting"
            return "enqueued twice" if state else None
        if state is None:
            self.state = "waiting"
            return f"'{name}' without having been enqueued"
        if letter == "c":
            self.claims += 1
            self.claims_now += 1
            self.state = "leased"
            return f"claimed while {self.final or state}" if state != "waiting" else None
        if letter == "d":
            problem = None if self.final == "failed" else f"redriven while {self.final or state}"
            self.state, self.final, self.claims_now = "waiting", None, 0
            return problem
        if state == "final":
            return f"'{name}' after the end as {self.final}"
        if letter in REMARKS:
            return None
        self.state = "waiting"
        if letter in FINALS:
            self.state, self.final = "final", name
        if state == "leased":
            self.ends += 1
        elif letter in ENDS_OF_LEASES_ONLY:
            return f"'{name}' without a claim"
        return None


@functools.lru_cache(maxsize=65536)
def read_word(word):
    trail = Trail()
    for letter in word:
        problem = trail.follow(letter)
        trail.problem = trail.problem or problem
    return trail
