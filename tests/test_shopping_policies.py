"""What sits in the seats of the memory game: memories that never err, that forget, and chance; slots, batches and states."""

from __future__ import annotations

import itertools
import tracemalloc
from collections import Counter
from typing import Any

import numpy as np
import pytest

from domino_env.shopping import ShoppingRules, Table, load_speaker
from domino_env.shopping.learner import ShoppingGames
from domino_env.shopping.loading import Speaker
from domino_env.shopping.policies import RandomSpeaker, RememberingSpeaker
from domino_env.shopping.table import answers_of
from domino_env.shopping.words import themes
from tests.shopping_play import Room, random_checkpoint, said_by

WAYS = list(itertools.product([None, "drawn", themes()[-1]], ["chosen", "drawn"]))


@pytest.fixture(scope="module")
def sampling(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The spec of a recurrent network that draws its words, for three players."""
    path = random_checkpoint(tmp_path_factory.mktemp("learned") / "a.safetensors", ShoppingRules(3))
    return f"{path}?sample=1"


@pytest.fixture(params=["random", "perfect", "forgetful?p=0.3", "learned"])
def spec(request: pytest.FixtureRequest) -> str:
    """The name of a speaker; ``learned`` is that of ``sampling``."""
    return str(request.getfixturevalue("sampling")) if request.param == "learned" else str(request.param)


# ------------------------------------------------------------------------------------------------- memories


def recites_all(rules: ShoppingRules, seeds: range) -> None:
    """Perfect memories all round: nobody is ever out, and the alphabet runs out after 1 + 2 + ... + L words; in the next game too."""
    room, speaker = Room(rules, seeds), RememberingSpeaker()
    everybody = (1 << rules.num_players) - 1
    lists = set()
    for _ in range(3):
        room.open()
        words = sum(1 for _ in room.play(speaker))
        assert words == rules.num_letters * (rules.num_letters + 1) // 2
        assert (room.games["heard_right"] == 1).all()
        assert (room.games["winners"] == everybody).all()
        assert (room.games["length"] == rules.num_letters).all()
        lists |= {game.tobytes() for game in room.games["words"]}
    assert len(lists) > 2 * len(seeds)


@pytest.mark.engine
@pytest.mark.parametrize(("theme", "new_words"), WAYS)
def test_perfect_memory_never_errs(theme: str | None, new_words: str) -> None:
    for num_players in range(2, 9):
        recites_all(ShoppingRules(num_players, 5, 3, theme, new_words), range(2))


@pytest.mark.parametrize(("theme", "new_words"), WAYS)
@pytest.mark.parametrize("num_players", range(2, 9))
def test_perfect_memory_never_errs_to_the_last_letter(num_players: int, theme: str | None, new_words: str) -> None:
    recites_all(ShoppingRules(num_players, 26, 4, theme, new_words), range(4))


def test_perfect_memory_survives_those_who_err() -> None:
    """A perfect memory is put out by nobody else's mistake, and wins alone or with others."""
    for seed in range(12):
        table = Table(ShoppingRules(4, 12), ["random", "perfect", "forgetful?p=0.2", "perfect"], seed)
        party = table.play()
        assert {1, 3} <= set(party.winners())
        assert len(party.words()) == 12
        assert all(said.right for said in party.said if said.seat in (1, 3))


@pytest.mark.parametrize(
    ("forget", "words", "theme"), [(0.1, 4, None), (0.5, 2, "drawn"), (0.5, 3, themes()[0]), (1.0, 4, None), (0.0, 4, None)]
)
def test_share_of_right_words(forget: float, words: int, theme: str | None) -> None:
    """Each word is right with probability (1 - p) + p/W, at each turn anew, and wrong ones are words of the theme, all as likely."""
    rules = ShoppingRules(3, 26, words, theme, "drawn")
    room, speaker = Room(rules, range(60)), RememberingSpeaker(forget)
    right: dict[tuple[int, int, int], bool] = {}
    off: Counter[int] = Counter()
    for batch in room.recite():
        rows = batch.rows[batch.on_turn]
        answers, wanted = answers_of(speaker, batch)[batch.on_turn], room.right_words(rows)
        for row, answer, word in zip(rows.tolist(), answers.tolist(), wanted.tolist(), strict=True):
            game = room.games[row]
            assert answer // words == max(game["theme"], 0)
            if word >= 0:
                right[row, int(game["length"]), int(game["position"])] = answer == word
                off[(answer - word) % words] += 1
    chance = (1 - forget) + forget / words
    assert len(right) == 60 * 26 * 25 // 2
    close(sum(right.values()), len(right), chance)
    pairs = [(right[row, length, k], right[row, length + 1, k]) for row, length, k in right if length % 2 and (row, length + 1, k) in right]
    close(sum(first and second for first, second in pairs), len(pairs), chance**2)
    for away in range(1, words):
        close(off[away], len(right), forget / words)


def close(count: int, of: int, chance: float) -> None:
    """Within four standard errors."""
    assert abs(count / of - chance) <= 4 * (chance * (1 - chance) / of) ** 0.5, (count, of, chance)


@pytest.mark.parametrize("theme", [None, "drawn"])
def test_random_is_uniform(theme: str | None) -> None:
    rules = ShoppingRules(3, 26, 4, theme)
    room, speaker, count = Room(rules, range(40)), RandomSpeaker(), rules.num_actions
    answers: Counter[int] = Counter()
    beside: Counter[tuple[int, int]] = Counter()
    for batch in room.recite():
        said = answers_of(speaker, batch).reshape(-1, 3)
        answers.update(said.ravel().tolist())
        beside.update(zip((said[:, 0] % 3).tolist(), (said[:, 1] % 3).tolist(), strict=True))
    total = answers.total()
    assert set(answers) == set(range(count))
    for action in range(count):
        close(answers[action], total, 1 / count)
    share = [sum(1 for action in range(count) if action % 3 == rest) / count for rest in range(3)]
    for a, b in itertools.product(range(3), repeat=2):  # what two listeners say at the same moment has nothing to do with each other
        close(beside[a, b], beside.total(), share[a] * share[b])


# ------------------------------------------------------------------------------------------------- slots, batches, states


def test_an_answer_is_the_same_in_any_slot_and_batch(spec: str) -> None:
    rules = ShoppingRules(3, 9, new_words="drawn")

    def make() -> Speaker:
        return load_speaker(spec, rules)

    together = said_by(make, rules, range(10))
    shuffled = [3, 8, 0, 9, 1, 7, 2, 6, 5, 4]
    assert said_by(make, rules, shuffled) == together
    assert said_by(make, rules, range(10), rows=[20 - 2 * k for k in range(10)]) == together
    alone: dict[Any, int] = {}
    for seed in range(10):
        alone.update(said_by(make, rules, [seed], rows=[seed % 3]))
    assert alone == together
    assert len({word for _, word in together.items()}) > 1


@pytest.mark.engine
def test_listeners_may_be_asked_one_by_one(spec: str) -> None:
    rules = ShoppingRules(3, 7, new_words="drawn")
    room = Room(rules, range(4))
    one, many = load_speaker(spec, rules), load_speaker(spec, rules)
    for batch, answers in room.play(many):
        order = np.random.default_rng(len(batch)).permutation(len(batch))
        for k in order.tolist():
            single = type(batch).of_games(room.games, batch.rows[k : k + 1], batch.seats[k : k + 1], rules, room.encoding)
            assert answers_of(one, single)[0] == answers[k]


def test_interleaved_games_do_not_mix_memories(spec: str) -> None:
    """Two games of one speaker, each going on whenever it likes, say what they say alone."""
    rules = ShoppingRules(3, 8, new_words="drawn")
    alone = {seed: said_by(lambda: load_speaker(spec, rules), rules, [seed]) for seed in (5, 6)}
    for rows in ([0, 3], [3, 0]):
        room, speaker = Room(rules, [5, 6], rows), load_speaker(spec, rules)
        found: dict[int, dict[Any, int]] = {5: {}, 6: {}}
        generator = np.random.default_rng(1)
        while len(room.going()):
            batch = room.listening(generator.permutation(room.going())[:1])
            answers = answers_of(speaker, batch)
            found[room.seed_of[int(batch.rows[0])]].update(zip(room.keys(batch), answers.tolist(), strict=True))
            room.say(batch, answers)
        assert found == alone


def memory_of(speaker: Any) -> bytes:
    return bytes(speaker.get_state()["memory"].tobytes())


@pytest.mark.parametrize("spec", ["perfect", "forgetful?p=0.3", "learned"], indirect=True)
def test_states_are_exact(spec: str) -> None:
    """A speaker set to the state of another goes on as that one, and a state is a copy that neither writes into."""
    rules = ShoppingRules(3, 12, new_words="drawn")
    room = Room(rules, range(6))
    speaker: Any = load_speaker(spec, rules)
    other: Any = load_speaker(spec, rules)
    kept: list[tuple[Any, bytes]] = []
    for number, batch in enumerate(room.recite()):
        answers = answers_of(speaker, batch)
        if number % 9 == 4:
            kept.append((speaker.get_state(), memory_of(speaker)))
            other.set_state(kept[-1][0])
        elif kept:
            assert (answers_of(other, batch) == answers).all()
        if kept:
            assert memory_of(other) == memory_of(speaker)
    assert all(state["memory"].tobytes() == then for state, then in kept)
    assert len({then for _, then in kept}) > 5


def test_memory_stays_flat(sampling: str) -> None:
    games = ShoppingGames(3, ["perfect", "forgetful?p=0.1", sampling, "random"], num_letters=4, new_words="drawn")
    games.reset(np.arange(3, dtype=np.uint64))

    def step(times: int) -> int:
        ended = 0
        for _ in range(times):
            games.step(np.zeros(3, np.int64))
            ended += int(games.done.sum())
        return ended

    step(200)
    before = {name: array.nbytes for name, array in games.get_state().items()}
    tracemalloc.start()
    step(50)
    start = tracemalloc.get_traced_memory()[0]
    assert step(1500) > 300
    grown = tracemalloc.get_traced_memory()[0] - start
    tracemalloc.stop()
    assert {name: array.nbytes for name, array in games.get_state().items()} == before
    assert grown < 32_000
