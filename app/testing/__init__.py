"""Test kit: a scripted chat model, and a server that speaks the OpenAI protocol on loopback."""

from ragweave.testing.replies import UnconsumedReplies, UnexpectedModelCall
from ragweave.testing.scripted import Call, ScriptedChat

__all__ = ["Call", "ScriptedChat", "UnconsumedReplies", "UnexpectedModelCall"]
