"""``domino watch`` and ``domino replay``: games that nobody at the keyboard plays."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from domino_env.commands.common import load_rules, save_game, say, say_json, wants_color
from domino_env.commands.pages import PageWish
from domino_env.commands.pictures import PictureWish
from domino_env.engine.state import ROUND_OVER
from domino_env.errors import OptionsError
from domino_env.files import check_writable
from domino_env.notation.game import PlayedGame
from domino_env.notation.records import load_record, replay_moves, to_record
from domino_env.notation.records import replay as replay_record
from domino_env.rendering.ansi import event_text, render_game, round_end_text, seats_text

if TYPE_CHECKING:
    from domino_env.pages import Judge

__all__ = ["replay", "watch"]

MOST_DELAY = 3600


def watch(
    variant: str,
    specs: Sequence[str],
    seed: int | None,
    episode: str,
    delay: float,
    rules_file: Path | None,
    record: Path | None,
    tables: bool,
    reveal: bool,
    as_json: bool,
    page: PageWish | None = None,
) -> None:
    """Policies play one game; each move is printed, with the table where ``tables`` are asked for, and the table at the end.

    On the ``page`` each seat's own policy thinks.
    """
    from domino_env.commands.table import Table
    from domino_env.policies import policy_name

    check_writable(record)
    page = page or PageWish()
    judge = page.check()
    if record is not None and page.html is not None and record.absolute() == page.html.absolute():
        raise OptionsError(f"--record and --html both name {str(record)!r}, so one would be lost")
    if not 0 <= delay <= MOST_DELAY:
        raise OptionsError(f"delay={delay}, but it is from 0 to {MOST_DELAY} seconds")
    table = Table(load_rules(variant, rules_file), list(specs), episode, seed)
    game = table.game

    def tell(text: str) -> None:
        if not as_json:
            say(text)

    names = ", ".join(f"seat {seat}: {policy_name(policy)}" for seat, policy in enumerate(table.policies) if policy is not None)
    tell(f"{variant}, seed {game.seed}; {names}")
    try:
        while not game.over:
            game.deal_if_due()
            policy = table.policies[game.seat]
            assert policy is not None
            lines = table.move(table.decide(policy), shown=reveal)
            if tables:
                lines = ["", render_game(game, None, reveal, wants_color()), *lines[1:]]
            tell("\n".join(lines))
            if delay:
                time.sleep(delay)
    finally:
        save_game(game, record)
    policies = [policy for policy in table.policies if policy is not None]
    page.write(to_record(game), judge, [policies], seats=[policy_name(policy) for policy in policies])
    if as_json:
        say_json(to_record(game))
    elif not tables:
        say()
        say(render_game(game, None, reveal, wants_color()))


def replay(
    path: Path,
    to: str | None,
    seat: int | None,
    reveal: bool | None,
    as_json: bool,
    page: PageWish | None = None,
    pictures: PictureWish | None = None,
) -> None:
    """Check a record from its first move to its last, then print it up to the place asked for, or write the ``page`` or the
    ``pictures`` of it.

    ``reveal`` None: a page shows all hands where no ``seat`` looks on, the terminal none.
    """
    page, pictures = page or PageWish(), pictures or PictureWish()
    judge = page.check()
    pictures.check()
    if pictures.wanted and page.html is not None:
        raise OptionsError("--html beside --svg or --film: write the page and the pictures one after the other")
    record = load_record(path)
    if record.get("variant") == "shopping" and page.html is None:
        if pictures.wanted:
            raise OptionsError("--svg and --film show a table of dominoes: the memory game has none")
        _replay_party(record, to, as_json)
        return
    if page.html is not None:
        _write_page(page, judge, record, to, seat, reveal, as_json)
        return
    stop = None if to is None else _place(to)
    found = game = None
    for game in replay_moves(record):
        if stop == (len(game.rounds) - 1, len(game.rounds[-1].events) - 1):
            found = game.copy()
    assert game is not None
    if stop is not None and found is None:
        raise _no_such_event(game, to)
    if found is not None:
        found.seed = game.seed
    shown = found or game
    pictures.draw(shown, seat, bool(reveal))
    if as_json:
        say_json(_summary(shown))
    if as_json or pictures.wanted:
        return
    _say_game(shown, seat, bool(reveal))


def _no_such_event(game: PlayedGame, to: str | None) -> OptionsError:
    shape = ", ".join(f"round {number}: 0 to {len(log.events) - 1}" for number, log in enumerate(game.rounds) if log.events)
    return OptionsError(f"--to {to}: the record has no such event; it has {shape or 'none'}")


def _write_page(
    page: PageWish, judge: Judge | None, record: dict[str, Any], to: str | None, seat: int | None, reveal: bool | None, as_json: bool
) -> None:
    """The page of a record; it opens after the event ``to``."""
    from domino_env.pages import check_record
    from domino_env.policies import load_policy

    check_record(record)
    game = replay_record(record)
    start = None
    if to is not None:
        number, event = _place(to)
        if number >= len(game.rounds) or event >= len(game.rounds[number].events):
            raise _no_such_event(game, to)
        start = number, event + 1
    thinkers = [load_policy(spec, game.rules, game.num_players) for spec in page.think]
    page.write(record, judge, thinkers, seat=seat, reveal=seat is None if reveal is None else reveal, start=start)
    if as_json:
        say_json(_summary(game))


def _replay_party(record: dict[str, Any], to: str | None, as_json: bool) -> None:
    """Check a record of the memory game, and print it."""
    from domino_env.commands.shopping import say_party
    from domino_env.shopping.records import replay as replay_party

    if to is not None:
        raise OptionsError(f"--to {to}: a record of the memory game is shown whole")
    party = replay_party(record)
    if as_json:
        told = {"variant": "shopping", "num_players": party.rules.num_players, "seed": party.seed, "said": len(party.said)}
        say_json({**told, "words": party.words(), "over": party.over, "winners": party.winners()})
    else:
        say_party(party)


def _place(text: str) -> tuple[int, int]:
    number, _, event = text.partition(":")
    if not (number.isascii() and number.isdecimal() and event.isascii() and event.isdecimal()):
        raise OptionsError(f"--to {text}: write ROUND:EVENT, such as 0:12, both counted from 0")
    return int(number), int(event)


def _summary(game: PlayedGame) -> dict[str, object]:
    return {
        "variant": game.rules.variant,
        "num_players": game.num_players,
        "seed": game.seed,
        "episode": "round" if game.one_round else "match",
        "rounds": len(game.rounds),
        "moves": sum(len(log.events) for log in game.rounds),
        "scores": game.scores(),
        "over": game.over,
        "winners": game.winners(),
    }


def _say_game(game: PlayedGame, seat: int | None, reveal: bool) -> None:
    picture = render_game(game, seat, reveal, wants_color())  # a seat that is none is refused before anything is printed
    for number, log in enumerate(game.rounds):
        say(f"round {number}: {seats_text([log.leader])} leads")
        for count, event in enumerate(log.events):
            say(f"{count:>3}. {event_text(game, log, count, reveal or event.seat == seat)}")
        if log.end:
            say(f"round {number} ended: {round_end_text(log)}")
    say()
    say(picture)
    if game.phase == ROUND_OVER:
        say("the next deal is due")
