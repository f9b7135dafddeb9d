"""What thinks and perceives: chat, embed, relevance, heads, weights, text."""

if __name__ != "ragweave.models":
    raise ImportError("this folder is the package ragweave.models: import it by that name")
