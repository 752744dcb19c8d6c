"""Whether a builder's bots keep to the rules of the game: each rule, what a breach means, and how to mend it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from cooperation.bots.calls import BotError, Calls, WrongValueError
from cooperation.evaluation import rules
from cooperation.evaluation.rules import Sample, Subject

FINE, BREACH, DOUBT, SKIPPED, SAMPLES = "ok", "BREACH", "doubtful", "not judged", "samples"
# What Python says of writing into something immutable.
WRITES = ("does not support item assignment", "read-only", "cannot assign to field", "'tuple' object has no attribute")


@dataclass(frozen=True)
class Finding:
    """The outcome of a check: one of `FINE`, `BREACH`, `DOUBT`, `SKIPPED`, `SAMPLES`, and what was seen."""

    check: "Check"
    state: str
    seen: str = ""
    trace: str = ""

    def __str__(self) -> str:
        name = f"{self.state:10} {self.check.name}"
        if self.state == FINE:
            return f"{name}: {self.check.asks}"
        if self.state in (SKIPPED, SAMPLES):
            return f"{name}: {self.seen}"
        return f"{name}: {self.seen}. It means: {self.check.means}. To mend it: {self.check.mend}."


@dataclass(frozen=True)
class Check:
    """A rule. look: makes bots anew, and is given the sample → what breaks the rule, "" where nothing does.

    asks: what is looked at; means: what a breach does to the results; needs: checks that must have passed before.
    """

    name: str
    asks: str
    means: str
    mend: str
    look: Callable[[Callable[[], Subject], Sample], str]
    needs: tuple[str, ...] = ()
    state: str = BREACH


WELL, SAME, STATE, BATCH, ORDER = "well-formed", "same twice", "no hidden state", "any batch size", "any order"
CANDIDATES = "any candidates"
STATELESS = "keep nothing between calls, neither in the object nor in globals; all that a bot remembers is in `dialogs`"
CHECKS = (
    Check(
        WELL,
        "each function returns the right number, types, shapes and finite values, for strange words, too",
        "games end with this error",
        "return what `cooperation.api` says",
        rules.well_formed,
    ),
    Check(
        "reads only",
        "inputs stay as they are",
        "games end, or one dialog changes another",
        "make new lists and arrays in place of writing into those that are given",
        rules.reads_only,
        (WELL,),
    ),
    Check(
        SAME,
        "the same input gives the same output",
        "chance looks like an effect of what is perturbed, and hides effects",
        "take the likeliest word, or draw with a generator that is seeded by the dialog; call eval() on networks; a "
        "model that is meant to draw takes part with `--samples N`",
        rules.repeats,
        ("well-formed", "reads only"),
    ),
    Check(
        STATE,
        "called again, after other dialogs, in a fork or anew, a bot does the same",
        "the baseline and perturbed games mix, and a gap is anything",
        STATELESS,
        rules.no_state,
        (SAME,),
    ),
    Check(
        "remembers what was delivered",
        "the last turn is read as it is given, not as the bot had said it",
        "the effect of perturbed questions and answers is hidden, above all in the reading `released`",
        STATELESS,
        rules.remembers,
        (STATE,),
    ),
    Check(
        "no leak",
        "with the same words and another picture, the questioner does exactly the same",
        "the questioner knows the picture without the dialog, which reads as robustness in every condition",
        f"let the two bots share nothing; {STATELESS}",
        rules.no_leak,
        (STATE,),
    ),
    Check(
        BATCH,
        "a dialog alone goes as among others",
        "results depend on `--batch`",
        "mask padding, and use no statistics of the batch (batch normalisation in eval mode)",
        rules.any_batch,
        (STATE,),
    ),
    Check(
        ORDER,
        "the order of the dialogs bears on nothing",
        "results depend on which dialogs stand side by side",
        "return outputs in the order of the inputs, each from its own dialog alone",
        rules.any_order,
        (STATE,),
    ),
    Check(
        CANDIDATES,
        "a candidate is scored the same among others and among fewer",
        "where candidates are many they are scored in parts, whose scores can't be compared: ranks are wrong",
        "score each candidate by itself, and normalise nothing over the candidates",
        rules.any_candidates,
        (STATE,),
    ),
    Check(
        "listens",
        "another answer can change a guess",
        "no perturbed question, answer or image can have an effect, so small gaps say nothing about the talk",
        "use `dialog.turns` in score or guess, unless your model is meant to ignore them",
        rules.listens,
        (STATE,),
        DOUBT,
    ),
    Check(
        "looks",
        "another picture can change an answer",
        "perturbed images can have no effect",
        "use `pictures` in answer, unless your model is meant to ignore them",
        rules.looks,
        (STATE,),
        DOUBT,
    ),
)


Make = Callable[[], Calls]


def conform(make: Make, sample: Sample, rewound: Make | None = None) -> Iterator[Finding]:
    """Yield the finding of each check.

    make: makes the bots anew; rewound: the same, of bots that may draw at random, but draw the same at each call, so
    that what else they do can be judged.
    """
    states: dict[str, str] = {}
    samples = [sample]
    for check in CHECKS:
        if states == {WELL: FINE}:
            # In the bots' own words and in a late round, what the given dialogs don't reach may show.
            samples.append(rules.own_talk(make(), sample))
        if check.name in states:
            continue
        lacking = [name for name in check.needs if states.get(name) not in (FINE, SAMPLES)]
        drawing = SAMPLES in states.values()
        if lacking:
            first, state = next((name, state) for name, state in states.items() if state not in (FINE, SAMPLES))
            finding = Finding(check, SKIPPED, f"mend “{first}” first" if state == BREACH else f"“{first}” is {state}")
        else:
            finding = _judged(check, rewound if rewound and drawing else make, samples)
            if rewound and finding.state == BREACH:
                finding = _sampled(finding, _judged(check, rewound, samples), drawing)
        states[finding.check.name] = finding.state
        yield finding


def index_may_be_kept(make: Make, sample: Sample) -> bool:
    """Whether the bots need no more of `prepare` than it returns, if they have it; make: makes them anew."""
    try:
        return not make().has("prepare") or rules.index_is_enough(make, sample)
    except (BotError, WrongValueError):
        return False


def _sampled(finding: Finding, rewound: Finding, drawing: bool) -> Finding:
    """What a breach by bots that may draw at random is; rewound: the finding where they draw the same at each call.

    drawing: whether they are known to draw.
    """
    check = finding.check
    if check.name in (SAME, STATE) and rewound.state == FINE:
        return Finding(check, SAMPLES, "draws at random, and begun anew it draws the same; the intervals include it")
    if check.name == SAME and not finding.trace:
        return Finding(check, DOUBT, f"{finding.seen}, and its draws can't be begun anew, so more can't be judged")
    if drawing and check.name in (BATCH, ORDER, CANDIDATES):
        return Finding(check, SKIPPED, "what is drawn for one may depend on the others beside it")
    return finding


def _look(check: Check, make: Make, samples: Sequence[Sample]) -> str:
    """What is seen in any of the samples, of a breach; of what is doubtful, what is seen in all of them."""
    seen = ""
    for own in (sample.copied() for sample in samples):
        seen = check.look(lambda own=own: Subject.of(make(), own), own)  # type: ignore[misc]
        if bool(seen) == (check.state == BREACH):
            break
    return seen


def _judged(check: Check, make: Make, samples: Sequence[Sample]) -> Finding:
    try:
        seen = _look(check, make, samples)
    except (BotError, WrongValueError) as error:
        named, seen = check, str(error)
        if isinstance(error, BotError) and any(words in seen for words in WRITES):
            named = _check("reads only")
        # Bots that did well in a dialog from its beginning, but here are asked first in the middle of one.
        elif STATE not in check.needs and check.name != WELL:
            named, seen = _check(STATE), f"{seen}, when first called in the middle of a dialog"
        return Finding(named, BREACH, seen, getattr(error, "trace", ""))
    return Finding(check, check.state, seen) if seen else Finding(check, FINE)


def _check(name: str) -> Check:
    return next(one for one in CHECKS if one.name == name)
