"""Arguments that all front ends share, and the options of ``reset``: checked early, with the value in the message."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from domino_env.errors import NotationError, OptionsError
from domino_env.notation.game import PlayedGame
from domino_env.notation.moves import parse_tile
from domino_env.rules import Rules
from domino_env.variants import get_rules

__all__ = [
    "as_action",
    "as_actions",
    "as_seeds",
    "check_count",
    "check_flag",
    "check_seat",
    "check_seed",
    "check_state",
    "copy_state",
    "deal_options",
    "entropy_seed",
    "given_options",
    "is_one_round",
    "reset_mask_of",
    "resolve_rules",
]

MOST_GAMES = 1 << 24
_MOST_POINTS = 1 << 30

_OPTIONS = ("hands", "boneyard", "leader", "scores")


def resolve_rules(variant: str, rules: Rules | Mapping[str, Any] | None) -> Rules:
    """The rules of a variant, with ``rules`` (whole rules, or a dict of overrides) in their place."""
    base = get_rules(variant)
    if rules is None:
        return base
    return rules if isinstance(rules, Rules) else Rules.from_overrides(base, rules)


def is_one_round(episode: object) -> bool:
    """Whether an episode is one round (``"round"``) or a whole match (``"match"``)."""
    if episode not in ("round", "match"):
        raise OptionsError(f"episode={episode!r}, but it is 'round' or 'match'")
    return episode == "round"


def check_flag(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise OptionsError(f"{name}={value!r}, but it is True or False")
    return bool(value)


def check_count(name: str, value: object) -> int:
    """A number of games as an int."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= MOST_GAMES:
        raise OptionsError(f"{name}={value!r}, but it is a whole number from 1 to {MOST_GAMES}")
    return int(value)


def check_seat(seat: object, num_players: int) -> int:
    """``learner_seat`` as an int; -1 for None, a seat drawn anew for each game."""
    if seat is None:
        return -1
    if isinstance(seat, bool) or not isinstance(seat, (int, np.integer)) or not 0 <= seat < num_players:
        raise OptionsError(f"learner_seat={seat!r}, but it is None (drawn for each game) or a seat from 0 to {num_players - 1}")
    return int(seat)


def check_seed(seed: object) -> int:
    """``seed`` as an int from 0 to 2**64 - 1."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**64:
        raise OptionsError(f"seed={seed!r}, but a seed is a whole number from 0 to 2**64 - 1")
    return int(seed)


def entropy_seed() -> int:
    """A seed from the operating system, for whoever gave none."""
    return int.from_bytes(os.urandom(7), "little")


def as_action(action: object) -> int:
    """An action id as int: Python and numpy integers and 0-d integer arrays; anything else raises ``OptionsError``."""
    kind = type(action)
    if kind is int or kind is np.int64:
        return int(action)  # type: ignore[call-overload, no-any-return]
    if isinstance(action, np.ndarray) and action.shape == () and action.dtype.kind in "iu":
        return int(action)
    if isinstance(action, (int, np.integer)) and not isinstance(action, bool):
        return int(action)
    shape = f" of shape {action.shape}" if isinstance(action, np.ndarray) else ""
    raise OptionsError(f"action {action!r}{shape} ({kind.__name__}), but an action is an int, a numpy integer or a 0-d integer array")


def as_actions(actions: npt.ArrayLike, count: int) -> npt.NDArray[np.int64]:
    """Action ids of a batch as (count,) int64; ``OptionsError`` for another shape or a type that is no integer."""
    try:
        array = np.asarray(actions)
    except ValueError:
        raise OptionsError(f"actions {actions!r}, but they are ({count},) integers") from None
    if array.shape != (count,) or array.dtype.kind not in "iu":
        raise OptionsError(f"actions of shape {array.shape} and type {array.dtype}, but they are ({count},) integers")
    return array.astype(np.int64, copy=False)


def as_seeds(seed: int | npt.NDArray[Any], count: int) -> npt.NDArray[np.uint64]:
    """Seeds of a batch as (count,) uint64: ``seed + g`` for game g, or the given array."""
    if isinstance(seed, (list, tuple)) or (isinstance(seed, np.ndarray) and seed.ndim > 0):
        seeds = [check_seed(value) for value in (seed.tolist() if isinstance(seed, np.ndarray) else seed)]
        if len(seeds) != count:
            raise OptionsError(f"seed: {len(seeds)} seeds for {count} games")
        return np.array(seeds, np.uint64)
    first = check_seed(seed[()] if isinstance(seed, np.ndarray) else seed)
    return np.array([(first + g) % 2**64 for g in range(count)], np.uint64)


def copy_state(target: object, names: Sequence[str], state: Mapping[str, npt.NDArray[Any]]) -> None:
    """Copy the arrays ``names`` of a state into those of ``target``; ``OptionsError`` where they are not of the same kind."""
    check_state({name: getattr(target, name) for name in names}, state)
    for name in names:
        getattr(target, name)[...] = state[name]


def check_state(arrays: Mapping[str, npt.NDArray[Any]], state: Mapping[str, npt.NDArray[Any]]) -> None:
    """``OptionsError`` where a state lacks one of ``arrays``, or holds it in another shape or type."""
    for name, mine in arrays.items():
        theirs = state.get(name)
        if theirs is None or theirs.shape != mine.shape or theirs.dtype != mine.dtype:
            got = "nothing" if theirs is None else f"{theirs.dtype} {theirs.shape}"
            raise OptionsError(f"state: {name} is {got}, but these games have {mine.dtype} {mine.shape}")


def reset_mask_of(options: Any, count: int) -> npt.NDArray[np.bool_] | None:
    """``reset_mask`` (count,) bool of the options of a batch's ``reset``, None where there is none; ``OptionsError`` for anything else."""
    if options is not None and not isinstance(options, dict):
        raise OptionsError(f"options={options!r}, but they are a dict with 'reset_mask'")
    unknown = [name for name in options or {} if name != "reset_mask"]
    if unknown:
        raise OptionsError(f"options: unknown {unknown[0]!r}; a batch takes only 'reset_mask'")
    if not options or options.get("reset_mask") is None:
        return None
    mask = np.asarray(options["reset_mask"])
    if mask.shape != (count,) or mask.dtype != np.bool_:
        raise OptionsError(f"options: reset_mask of shape {mask.shape} and type {mask.dtype}, but it is ({count},) bool")
    return mask


def given_options(options: Any, known: Sequence[str]) -> dict[str, Any]:
    """The options of ``reset`` that say something; ``OptionsError`` for others than the ``known``."""
    if options is not None and not isinstance(options, Mapping):
        raise OptionsError(f"options={options!r}, but they are a dict with {', '.join(known)}")
    # PettingZoo's api_test passes a meaningless key "options"
    given = {name: value for name, value in (options or {}).items() if name != "options" and value is not None}
    unknown = [name for name in given if name not in known]
    if unknown:
        raise OptionsError(f"options: unknown {unknown[0]!r}; the options are {', '.join(known)}")
    return given


def deal_options(game: PlayedGame, options: Mapping[str, Any] | None) -> bool:
    """Set ``game`` up anew with the options of ``reset``; what they leave out stays as its generator dealt it.

    Returns whether there was anything to set up. Raises ``OptionsError`` for what cannot be.
    """
    given = given_options(options, _OPTIONS)
    if not given:
        return False
    order = _order(game, _list("hands", given.get("hands", [])), _list("boneyard", given.get("boneyard", [])))
    game.set_up(order, _leader(game, given.get("leader")), _scores(game, given.get("scores")))
    return True


def _list(name: str, value: Any) -> Sequence[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        raise OptionsError(f"options: {name}={value!r}, but it is a list")
    return value


def _order(game: PlayedGame, hands: Sequence[Any], boneyard: Sequence[Any]) -> list[int]:
    """The order of all tiles: given ones in their place, the others as they were shuffled."""
    rules, seats = game.rules, game.num_players
    size, count = rules.hand[seats], rules.num_tiles
    slots: list[int | None] = [None] * count
    if len(hands) > seats:
        raise OptionsError(f"options: {len(hands)} hands for {seats} seats")
    for seat, hand in enumerate(hands):
        _fill(slots, seat * size, size, _list(f"hands[{seat}]", hand), rules.max_pip, f"hands[{seat}]")
    _fill(slots, seats * size, count - seats * size, boneyard, rules.max_pip, "boneyard")
    used = [tile for tile in slots if tile is not None]
    if len(set(used)) < len(used):
        raise OptionsError(f"options: a tile is given twice in hands={list(hands)!r}, boneyard={list(boneyard)!r}")
    rest = [tile for tile in game.games["order"][0, :count].tolist() if tile not in used]
    return [rest.pop(0) if tile is None else tile for tile in slots]


def _fill(slots: list[int | None], start: int, room: int, texts: Sequence[Any], max_pip: int, name: str) -> None:
    if len(texts) > room:
        raise OptionsError(f"options: {name} has {len(texts)} tiles, but there is room for {room}")
    for offset, text in enumerate(texts):
        try:
            slots[start + offset] = parse_tile(text, max_pip)
        except NotationError as error:
            raise OptionsError(f"options: {name}: {error}") from None


def _leader(game: PlayedGame, leader: Any) -> int:
    if leader is None:
        return -1
    if isinstance(leader, bool) or not isinstance(leader, (int, np.integer)) or not 0 <= leader < game.num_players:
        raise OptionsError(f"options: leader={leader!r}, but seats are 0 to {game.num_players - 1}")
    return int(leader)


def _scores(game: PlayedGame, scores: Any) -> list[int]:
    seats = game.num_players
    if scores is None:
        return [0] * seats
    values = _list("scores", scores.tolist() if isinstance(scores, np.ndarray) else scores)
    if len(values) != seats or any(isinstance(v, bool) or not isinstance(v, (int, np.integer)) for v in values):
        raise OptionsError(f"options: scores={scores!r}, but they are {seats} whole numbers")
    if max(abs(value) for value in values) >= _MOST_POINTS:
        raise OptionsError(f"options: scores={scores!r}, but they stay below {_MOST_POINTS} either way")
    target = game.rules.target[seats]
    if not game.one_round and max(values) >= target:
        raise OptionsError(f"options: scores={scores!r}, but the match is over at {target}")
    if game.rules.sides and (values[0] != values[2] or values[1] != values[3]):
        raise OptionsError(f"options: scores={scores!r}, but with sides partners have the same score")
    return [int(value) for value in values]
