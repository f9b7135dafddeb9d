"""What thinks and perceives: chat, embed, relevance, heads, weights, text."""
