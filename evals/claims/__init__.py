"""What each of the five papers claims, shown again in small from replies that are kept.

`ragweave bench PAPER --claim` runs one of these modules. Each has `claim`, which returns a
`common.ClaimReport`, and `LEFT_OUT`: how the sections and lines begin that `--short` leaves out.
"""

CLAIMS = {
    "universal-rag": "universal_rag",
    "rag-fusion": "rag_fusion",
    "crag": "crag",
    "auto-rag": "auto_rag",
    "video-rag": "video_rag",
}
"""The module of each paper."""
