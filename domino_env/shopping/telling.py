"""The game as text: it reads like the party."""

from __future__ import annotations

from collections.abc import Sequence

from domino_env.shopping.party import Party, Said
from domino_env.shopping.rules import ShoppingRules
from domino_env.shopping.words import LETTERS

__all__ = ["OPENING", "ending_text", "scene_text", "story_text", "turn_text"]

OPENING = "I went to the shop and bought"


def scene_text(party: Party) -> str:
    """The turn as everybody hears it now: what was said last, the words of this turn so far, never the rest of the list."""
    rules = party.rules
    lines = [] if party.theme is None else [f"theme: {party.theme}"]
    said = party.said
    if said and (party.over or not party.due):
        lines.append(ending_text(rules, said[-1]))
    if party.over:
        lines.append(f"won: {_names(party.winners())}")
    else:
        spoken = [_word(rules, one) for one in said[len(said) - party.due :]] if party.due else []
        lines.append(f"player_{party.seat}: {OPENING} {', '.join([*spoken, '...'])}")
        lines.append(f"letter due: {LETTERS[party.due]}    in the game: {_names(party.seats_in())}")
    return "\n".join(lines)


def story_text(party: Party) -> str:
    """The whole game, a line for each turn."""
    lines = [] if party.theme is None else [f"theme: {party.theme}"]
    turns: list[list[Said]] = []
    for said in party.said:
        if not said.letter:
            turns.append([])
        turns[-1].append(said)
    lines += [turn_text(party.rules, turn) for turn in turns]
    if party.over:
        lines.append(f"won: {_names(party.winners())}")
    return "\n".join(lines)


def turn_text(rules: ShoppingRules, turn: Sequence[Said]) -> str:
    """One turn: the words of one player from the first on."""
    spoken = [_word(rules, said) for said in turn]
    last = turn[-1]
    words = f"{', '.join(spoken[:-1])} and {spoken[-1]}" if len(spoken) > 1 and last.right else ", ".join(spoken)
    line = f"player_{last.seat}: {OPENING} {words}"
    return line if last.right else f"{line}: {'gives up, out' if last.word == rules.num_words else 'wrong, out'}"


def ending_text(rules: ShoppingRules, said: Said) -> str:
    """What the last word of a turn did."""
    if said.word == rules.num_words:
        return f"player_{said.seat} gave up at {LETTERS[said.letter]} and is out"
    word = _word(rules, said)
    return f"player_{said.seat} added {word}" if said.right else f"player_{said.seat} said {word}: wrong, out"


def _word(rules: ShoppingRules, said: Said) -> str:
    return "..." if said.word == rules.num_words else rules.words(said.letter)[said.word]


def _names(seats: Sequence[int]) -> str:
    return ", ".join(f"player_{seat}" for seat in seats)
