import pytest

from ragweave.minds.small.core import core


@pytest.mark.parametrize(
    ("turn", "question"),
    [
        ("When does the museum open?", "When does the museum open?"),
        ("museum opening hours sunday", "museum opening hours sunday"),
        (
            "Hi there! Could you please look up in my notes when the museum opens? Many thanks!",
            "when the museum opens?",
        ),
        ("I was wondering whether you know when the museum opens.", "when the museum opens."),
        ("Good evening, would you be so kind as to tell me where the spare key is?", "where the spare key is?"),
        ("ok can you tell me how old the oak is pls", "how old the oak is"),
        ("According to my files, who painted the barn?", "who painted the barn?"),
        ("Who painted the barn, according to our documents?", "Who painted the barn?"),
        ("Do you happen to know whether the shop is open on Mondays?", "whether the shop is open on Mondays?"),
        ("My sister visits on Sunday. When does the museum open?", "When does the museum open?"),
        ("I lost the number of our dentist. Can you give it to me?", "I lost the number of our dentist."),
        (
            "The lamp blinks six times, what is wrong?",
            "The lamp blinks six times, what is wrong?",
        ),
        ("Please help me find the recipe for plum cake in my files.", "the recipe for plum cake"),
        ("We are late - where does the bus stop?", "where does the bus stop?"),
        ("I'm cooking tonight, so how long do lentils boil?", "how long do lentils boil?"),
        ("I can't find my keys. Who has the spare ones?", "Who has the spare ones?"),
        ("I can't remember the name of the plumber.", "the name of the plumber."),
        ("Can I ask you something? What does a berth cost?", "What does a berth cost?"),
        (
            "Dear all,\n\nI am writing a report.\nWhat does a berth cost?\n\nBest wishes,\nTom",
            "What does a berth cost?",
        ),
        ("What does a berth cost? Answer in one short sentence.", "What does a berth cost?"),
        ("When does it open? And what is the fee?", "When does it open? what is the fee?"),
        ("Guten Tag! Könnten Sie mir bitte sagen, wann das Bad öffnet? Danke!", "wann das Bad öffnet?"),
        ("Weißt du, wo der Schlüssel liegt?", "wo der Schlüssel liegt?"),
        ("Bonjour, pourriez-vous me dire quand ouvre le musée, s'il vous plaît ?", "quand ouvre le musée?"),
        ("sorry to be a pain but could you see in my notes who won the race? cheers", "who won the race?"),
        ("Would it be possible for you to tell me which metal rusts?", "which metal rusts?"),
        ("It would be great to know how old the oak is.", "how old the oak is."),
        ("Long story short, I promised him an answer: how many moons has Mars?", "how many moons has Mars?"),
        ("I stand in on Saturday, which makes me nervous. How many turns has the key?", "How many turns has the key?"),
        ("Different subject: who won the race?", "who won the race?"),
        ("Who's the captain of the club?", "Who is the captain of the club?"),
        ("whats a berth per month", "what is a berth per month"),
    ],
)
def test_what_is_said_around_a_question_is_set_aside(turn, question):
    assert core(turn).question == question


@pytest.mark.parametrize(
    "turn",
    [
        "According to the agreement about the room, what does a lost key cost?",
        "If it rains, where is the fair held?",
        "In 1987, who led the club?",
        "What is in the notes on bees?",
        "Which is the largest? A) Mars B) Jupiter",
        "What does the guide call the painter who, according to the mayor, never slept?",
        "Um wie viel Uhr beginnt das Konzert?",
        "library card number",
        "If I lose my key, what does it cost?",
        "May I see Neptune when the Moon is up?",
        "thanks",
        "The comet was first seen by a shepherd. In which village was that shepherd born?",
        "One of the two was Ada; which prize did the other win?",
    ],
)
def test_what_belongs_to_a_question_stays(turn):
    assert core(turn).question == turn


@pytest.mark.parametrize(
    ("turn", "question"),
    [
        ("My uncle gave me a Corrie 4 stove. How heavy is it?", "How heavy is Corrie 4?"),
        ("I was given a stove by an aunt. How heavy is the stove?", "How heavy is the stove?"),
        ("We bought a fan heater. How long may it run?", "How long may the fan heater run?"),
        ("My passport runs out soon, I think. When does it expire?", "When does my passport expire?"),
        ("Our landlord is difficult again. How much notice must he give?", "How much notice must our landlord give?"),
        ("We got a puppy from Lena Marsh. What is her phone number?", "What is Lena Marsh’s phone number?"),
    ],
)
def test_a_pronoun_takes_what_the_sentence_before_it_names(turn, question):
    assert core(turn).question == question


def test_a_word_that_goes_on_and_a_new_subject_are_told():
    assert core("And the dryer?").onward and not core("The dryer?").onward
    assert core("Something else: who won?").fresh and not core("Who won something else?").fresh


def test_a_thing_that_is_named_first_is_what_is_asked_about() -> None:
    assert core("And the ferry, how often does it sail?").question == "how often does the ferry sail?"
