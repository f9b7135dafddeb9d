"""Turn videos, sound and transcripts into clips of about half a minute and a summary of the whole."""
