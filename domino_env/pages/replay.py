"""The replay page: one HTML file that shows a whole game, and what policies thought at each decision."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from domino_env.errors import OptionsError, RecordError
from domino_env.files import write_file
from domino_env.notation.game import PlayedGame
from domino_env.pages.assemble import assemble
from domino_env.pages.judging import CLEAR, Judge, Tell, greedy_moves, judge, think_through, thoughts_json
from domino_env.pages.story import Decision, Story
from domino_env.pages.words import text_words
from domino_env.policies.protocol import Policy, check_policy, policy_name
from domino_env.policies.thoughts import Thoughts
from domino_env.rendering.onlooker import game_title, seats_text
from domino_env.rendering.svg import back_svg, tile_svg, tile_symbols
from domino_env.rule_terms import MatchWinner

__all__ = ["Thinker", "check_record", "replay_page", "save_replay_page"]

Json = dict[str, Any]
Thinker = Policy | Sequence[Policy]
"""A policy that thinks for every seat, or one for each seat."""


def save_replay_page(path: str | os.PathLike[str], record: Mapping[str, Any], **options: Any) -> None:
    """Write ``replay_page(record, **options)`` beside ``path`` and rename it."""
    write_file(path, replay_page(record, **options))


def replay_page(
    record: Mapping[str, Any],
    *,
    thinkers: Sequence[Thinker] = (),
    judge_by: Judge | None = None,
    seats: Sequence[str] = (),
    seat: int | None = None,
    reveal: bool = True,
    start: tuple[int, int] | None = None,
    tell: Tell | None = None,
) -> str:
    """The page of a record, as HTML.

    ``thinkers``: whose thoughts are shown. ``judge_by``: the search that marks blunders. ``seats``: names of who sat there. ``reveal``:
    all hands are shown; else that of ``seat`` alone (None: no hand), and what other seats decided is not thought about. ``start``: round
    and number of moves made where the page opens. ``tell`` hears how many thoughts of how many are done.

    Raises ``RecordError`` for a record that breaks a rule or is of the memory game, ``CheckpointError`` for a policy that does not fit,
    ``OptionsError`` for a seat or a place that the game has not.
    """
    check_record(record)
    story = Story(record, seat, reveal)
    for policy in (one for thinker in thinkers for one in _by_seat(thinker, story.game.num_players)):
        check_policy(policy, story.game.rules, story.game.num_players)
    judge_by = Judge(None) if judge_by is None else judge_by
    data = _game_json(story, start)
    data["thinkers"] = [{"names": [policy_name(policy) for policy in _by_seat(one, story.game.num_players)]} for one in thinkers]
    data["seats"] = list(seats)
    data["search"] = _search_json(judge_by, story.game)
    _add_decisions(data, story, thinkers, judge_by, tell)
    return assemble("replay", title=data["title"], data=data, symbols=tile_symbols(story.game.rules.max_pip))


def check_record(record: Mapping[str, Any]) -> None:
    """Raise ``RecordError`` for a record of the memory game."""
    if record.get("variant") == "shopping":
        raise RecordError("record: variant='shopping', but the memory game has no replay page; 'domino replay' prints it")


def _by_seat(thinker: Thinker, players: int) -> Sequence[Policy]:
    if not isinstance(thinker, Sequence):
        return [thinker] * players
    if len(thinker) != players:
        raise OptionsError(f"{len(thinker)} policies that think, but the game has {players} seats")
    return thinker


def _game_json(story: Story, start: tuple[int, int] | None) -> Json:
    game, rules = story.game, story.game.rules
    title = game_title(game)
    if game.seed is not None and story.reveal:  # whoever knows the seed knows the deal
        title += f", seed {game.seed}"
    return {
        "title": title,
        "players": game.num_players,
        "sides": bool(rules.sides),
        "onlooker": _onlooker_words(story),
        "lowest": rules.match_winner == MatchWinner.LOWEST,
        "result": f"{seats_text(game.winners()).capitalize()} won" if game.over else "The game is not over",
        "tiles": {str(tile): tile_svg(tile) for tile in range(rules.num_tiles)},
        "back": back_svg(),
        "positions": story.positions,
        "start": _place(story, start),
    }


def _place(story: Story, start: tuple[int, int] | None) -> int:
    """Number of the position with so many moves made in a round."""
    if start is None:
        return 0
    for number, position in enumerate(story.positions):
        if (position["round"], position["event"]) == start:
            return number
    raise OptionsError(f"start={start[0]}:{start[1]}, but the record has no such place")


def _onlooker_words(story: Story) -> str:
    if story.reveal:
        return "All hands are shown."
    return "No hand is shown." if story.seat is None else f"Shown is what seat {story.seat} could see."


def _search_json(judge_by: Judge, game: PlayedGame) -> Json | None:
    if judge_by.search is None:
        return None
    return {"name": policy_name(judge_by.search), "blunder": round(judge_by.threshold(game), 4), "clear": CLEAR}


def _add_decisions(data: Json, story: Story, thinkers: Sequence[Thinker], judge_by: Judge, tell: Tell | None) -> None:
    """Write ``data["decisions"]``, by position."""
    game, decisions = story.game, story.decisions
    target = game.rules.target[game.num_players]
    greedy = greedy_moves(game, decisions)
    found: list[Json] = [
        {
            "seat": decision.seat,
            "moves": [_move_json(game, decision, number) for number in range(len(decision.actions))],
            "played": decision.played,
            "greedy": greedy[k],
            "thoughts": [],
        }
        for k, decision in enumerate(decisions)
    ]
    steps = (len(thinkers) + (judge_by.search is not None)) * len(decisions)
    done = 0

    def told(now: int, _: int) -> None:
        if tell is not None:
            tell(done + now, steps)

    for thinker in thinkers:
        for k, thoughts in enumerate(_thought(thinker, game, decisions, told)):
            found[k]["thoughts"].append(thoughts_json(thoughts, decisions[k], target))
        done += len(decisions)
    if judge_by.search is not None:
        for k, thoughts in enumerate(think_through(judge_by.search, game, decisions, told)):
            found[k]["search"] = judge(thoughts, decisions[k], judge_by.threshold(game))
    data["decisions"] = {str(decision.position): found[k] for k, decision in enumerate(decisions)}


def _thought(thinker: Thinker, game: PlayedGame, decisions: Sequence[Decision], tell: Tell) -> list[Thoughts]:
    """The thoughts of each decision, by the policy of its seat; equal policies think together."""
    policies = _by_seat(thinker, game.num_players)
    out: dict[int, Thoughts] = {}
    done = 0

    def told(now: int, of: int) -> None:
        tell(done + now, of)

    for policy in {id(policy): policy for policy in policies}.values():
        mine = [k for k, decision in enumerate(decisions) if policies[decision.seat] is policy]
        found = think_through(policy, game, [decisions[k] for k in mine], told)
        for k, thoughts in zip(mine, found, strict=True):
            out[k] = thoughts
        done += len(mine)
    return [out[k] for k in range(len(decisions))]


def _move_json(game: PlayedGame, decision: Decision, number: int) -> Json:
    action, text = decision.actions[number], decision.moves[number]
    tile = int(game.packed["action_tile"][0, action])
    placed = text not in ("draw", "pass")
    return {
        "text": text,
        "words": text_words(text) if placed else text,
        "tile": tile if placed else None,
        "points": decision.points[number],
    }
