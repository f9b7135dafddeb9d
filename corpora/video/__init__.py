"""Recordings: videos, sound and transcripts become clips of about half a minute and a summary of the whole."""
