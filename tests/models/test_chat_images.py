"""Pictures in a prompt."""

import base64

from ragweave.models.chat_reply import digest_of, with_images


def test_pictures_go_with_the_last_message_of_the_user():
    sent = with_images([("system", "s"), ("user", "a"), ("assistant", "b"), ("user", "c")], [b"one", b"two"])
    assert sent[:3] == [("system", "s"), ("user", "a"), ("assistant", "b")]
    role, parts = sent[3]
    assert role == "user"
    assert parts[0] == {"type": "text", "text": "c"}
    urls = [part["image_url"]["url"] for part in parts[1:]]
    assert [base64.b64decode(u.removeprefix("data:image/jpeg;base64,")) for u in urls] == [b"one", b"two"]


def test_without_pictures_messages_stay_as_they_are():
    assert with_images([("user", "c")], []) == [("user", "c")]
    assert digest_of([]) == ""


def test_other_pictures_or_another_order_have_another_digest():
    assert len({digest_of(i) for i in ([b"a"], [b"b"], [b"a", b"b"], [b"b", b"a"], [b"ab"])}) == 5
