"""``domino play``: a person at the table, in the terminal or in the browser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from domino_env.commands.common import load_rules, save_game, say, wants_color
from domino_env.commands.table import Table, seat_specs
from domino_env.engine.state import ROUND_OVER
from domino_env.envs.options import entropy_seed
from domino_env.errors import NotationError, OptionsError
from domino_env.files import check_writable
from domino_env.notation.game import PlayedGame
from domino_env.policies import policy_name
from domino_env.rendering.ansi import render_game, seats_text

__all__ = ["play", "play_in_browser", "terminal_variant"]

HELP = """Type the number of a move, or its text:
  1-4@left              the tile 1-4 on the left arm (left, right; with four arms also up, down)
  1-4                   the tile 1-4, where it fits in one place only; the first tile of a round has no arm
  4-4@right:lengthwise  a double laid along its arm; without the word it lies across
  draw, pass
On the table [1-4] is a tile, [4|4] a double that lies across; ends says what each open end counts.
  ?  this help     q  stop (the record is saved where you asked for one)"""


def play(
    variant: str,
    against: Sequence[str],
    num_players: int | None,
    seat: int,
    seed: int | None,
    episode: str,
    rules_file: Path | None,
    record: Path | None,
) -> None:
    """Play one game in the terminal; its record is saved however it ends."""
    check_writable(record)
    rules = load_rules(variant, rules_file)
    table = Table(rules, seat_specs(rules, against, num_players, seat), episode, seed)
    game = table.game
    names = [f"seat {number}: {'you' if policy is None else policy_name(policy)}" for number, policy in enumerate(table.policies)]
    say(f"{variant}, seed {game.seed}; {', '.join(names)}. Type ? for help, q to stop.")
    try:
        while not game.over:
            _next_move(table, seat)
        say()
        say(render_game(game, seat, color=wants_color()))
        say("you win" if seat in game.winners() else f"you lose to {seats_text(game.winners())}")
    except (EOFError, KeyboardInterrupt):
        say("\nstopped")
    finally:
        save_game(game, record)


def play_in_browser(
    variant: str | None,
    against: Sequence[str] | None,
    num_players: int | None,
    seat: int,
    seed: int | None,
    episode: str,
    rules_file: Path | None,
    record: Path | None,
    port: int | None,
    games: Path | None,
    browser: bool,
) -> None:
    """Serve the table until interrupted; without a variant the page asks what is played."""
    try:
        from domino_env.web.server import PORT, serve
        from domino_env.web.setup import Setup
    except ImportError as error:
        raise OptionsError(f"--web needs {error.name}: pip install 'domino-env[web]'") from None

    check_writable(record)
    setup = None
    if variant is None:
        _refuse_without_variant(against=against, players=num_players, seat=seat or None, seed=seed, rules_file=rules_file, record=record)
    else:
        rules = load_rules(variant, rules_file)
        specs = seat_specs(rules, against or ["greedy"], num_players, seat)
        setup = Setup(rules, tuple(specs), episode, entropy_seed() if seed is None else seed)
    serve(setup, port=PORT if port is None else port, folder=games, record=record, browser=browser, say=say)


def terminal_variant(variant: str | None, **web_options: object) -> str:
    """The variant of a game in the terminal, which must be named. Raises ``OptionsError`` there, and for options of ``--web``."""
    given = [name for name, value in web_options.items() if value is not None]
    if given:
        raise OptionsError(f"--{given[0].replace('_', '-')} is for --web")
    if variant is None:
        raise OptionsError("Missing argument 'VARIANT': only with --web it may be left out")
    return variant


def _refuse_without_variant(**options: object) -> None:
    """The start page asks for all of this: what was typed would be lost in silence."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise OptionsError(f"--{given[0].replace('_', '-')} needs a VARIANT; without one the page asks what is played")


def _next_move(table: Table, seat: int) -> None:
    game = table.game
    if game.phase == ROUND_OVER:
        game.deal_if_due()
        say(f"\nround {len(game.rounds) - 1}: {seats_text([int(game.row.leader)])} leads")
    policy = table.policies[game.seat]
    if policy is not None:
        lines = table.move(table.decide(policy), shown=False)
    elif game.num_legal == 1:
        lines = table.move(game.legal_actions()[0], shown=True)
        lines[0] += "  (your only move)"
    else:
        lines = table.move(_ask(game, seat), shown=True)
    for line in lines:
        say(line)


def _ask(game: PlayedGame, seat: int) -> int:
    """The move that a person chooses; ``q`` is the end of input."""
    actions = game.legal_actions()
    say()
    say(render_game(game, seat, color=wants_color()))
    say("your moves")
    for number, action in enumerate(actions, 1):
        say(f"  {number:>2}  {game.move_text(action)}{_worth(game, action)}")
    while True:
        answer = input("move> ").strip()
        if answer in ("q", "quit"):
            raise EOFError
        if answer in ("?", "help"):
            say(HELP)
            continue
        try:
            return _chosen(game, actions, answer)
        except NotationError as error:
            say(str(error))


def _worth(game: PlayedGame, action: int) -> str:
    """Points that a move would make at once; nothing of a draw, which is not looked at."""
    points = game.points_of(action)
    return f"  {points:+d}" if points else ""


def _chosen(game: PlayedGame, actions: list[int], answer: str) -> int:
    """The legal action that an answer names. Raises ``NotationError``."""
    texts = [game.move_text(action) for action in actions]
    if answer.isascii() and answer.isdecimal():
        if 1 <= int(answer) <= len(actions):
            return actions[int(answer) - 1]
    elif answer in texts:
        return actions[texts.index(answer)]
    else:
        places = [action for action, text in zip(actions, texts, strict=True) if text.split("@")[0] == answer]
        if len(places) == 1:
            return places[0]
        if places:
            raise NotationError(f"{answer} fits in {len(places)} places: type the number, or the text with the arm")
    raise NotationError(
        f"{answer!r} is none of your moves: type a number from 1 to {len(actions)}, or a move as it is written there; ? for help"
    )
