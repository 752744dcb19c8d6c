"""The smallest project whose whole report can be made, for the tests of what runs it."""

HUMAN = {"script": "dialog"}
# So high a rate teaches the most frequent answer within some updates.
RATE = 0.1
CONFIG = {
    "dataset": "small",
    "seeds": [1],
    "readings": ["written"],
    "models": {"dialog": {"regime": "dialog"}, "round": {"regime": "round"}},
    # Bots that learnt so little may say nothing that could be perturbed; people do, and those of `round` say no.
    "conditions": {
        "dialog": {
            "none": {},
            "caption-p0.2": {"channel": "caption", "kind": "replace", "p": 0.2},
            "image-from5": {"channel": "image", "kind": "noise", "start": 5},
            "asked": {
                "channel": "question",
                "kind": "replace",
                "p": 0.8,
                "start": 5,
                "script": "questions",
            },
            "answered": {"channel": "answer", "kind": "replace", "p": 0.8, "start": 5} | HUMAN,
        },
        "round": {"none": {}, "negation-from1": {"channel": "answer", "kind": "negate"}},
    },
    "datasets": {
        "small": {
            "source": "miniature",
            "raw": {"train": 24, "val": 12, "pixels": 32},
            "text": {"threshold": 2},
            "extraction": {"preprocessing": "small"},
            "features": {"normalisation": "standardise", "length": 8.0},
            "sizes": {"embedding": 8, "hidden": 12, "layers": 1},
            "jobs": "model",
            "training": {"dialog": {"epochs": 2, "batch": 16}, "round": {"epochs": 1, "batch": 24, "rate": RATE}},
        }
    },
}
