"""``domino shopping``: the memory game at the keyboard, watched, and measured."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from domino_env.commands.common import print_table, progress, say, say_json
from domino_env.commands.options import Json
from domino_env.files import check_writable

if TYPE_CHECKING:
    from domino_env.shopping.party import Party
    from domino_env.shopping.rules import ShoppingRules

__all__ = ["app", "say_party"]

app = typer.Typer(
    name="shopping",
    help="The memory game 'I went to the shop': play, watch, and measure how far a policy recites.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Speakers = Annotated[
    list[str],
    typer.Argument(metavar="SPEC...", help="random, perfect, forgetful?p=0.1, a checkpoint file or a bundled name.", show_default=False),
]
Letters = Annotated[int, typer.Option(help="Letters of the alphabet, 1 to 26.")]
Words = Annotated[int, typer.Option(help="Words to choose among for a letter.")]
Theme = Annotated[str | None, typer.Option(help="The name of a theme, or drawn.", show_default=False)]
NewWords = Annotated[str, typer.Option(help="'chosen' by the speaker, or 'drawn'.")]
Seed = Annotated[
    int | None, typer.Option(help="Seed of the game, 0 to 2**64-1. Left out: a new one, which is printed.", show_default=False)
]
Record = Annotated[Path | None, typer.Option(metavar="FILE", help="Save the record of the game there.", show_default=False)]

HELP = "Type a word of the letter that is due, or its number; 'give up'; ? for the words; q to stop."


@app.command()
def watch(
    specs: Speakers,
    letters: Letters = 26,
    words: Words = 4,
    theme: Theme = None,
    new_words: NewWords = "chosen",
    seed: Seed = None,
    record: Record = None,
    json: Annotated[bool, typer.Option("--json", help="Print nothing but the record of the game, as JSON.")] = False,
) -> None:
    """Watch policies play, one for each seat.

    Example: domino shopping watch perfect "forgetful?p=0.05" random --theme animals --seed 3
    """
    from domino_env.shopping.loading import speaker_name
    from domino_env.shopping.records import to_record
    from domino_env.shopping.table import Table

    check_writable(record)
    table = Table(_rules(len(specs), letters, words, theme, new_words), list(specs), _seed(seed))
    try:
        table.play()
    finally:
        _save(table.party, record)
    if json:
        say_json(to_record(table.party))
        return
    say(f"seed {table.party.seed}; " + ", ".join(f"player_{i}: {speaker_name(s)}" for i, s in enumerate(table.speakers) if s is not None))
    say_party(table.party)


@app.command()
def play(
    against: Annotated[list[str] | None, typer.Option(metavar="SPEC", help="An opponent; once for all, or once for each.")] = None,
    players: Annotated[int | None, typer.Option(help="Number of players, 2 to 8.", show_default=False)] = None,
    seat: Annotated[int, typer.Option(help="Your seat, from 0.")] = 0,
    letters: Letters = 26,
    words: Words = 4,
    theme: Theme = None,
    new_words: NewWords = "chosen",
    seed: Seed = None,
    record: Record = None,
) -> None:
    """Play against policies in the terminal. The others are perfect where --against does not say otherwise.

    Example: domino shopping play --against "forgetful?p=0.03" --players 3 --theme flowers
    """
    from domino_env.commands.table import seats_of
    from domino_env.shopping.table import Table

    check_writable(record)
    others = against or ["perfect"]
    count = players if players is not None else max(len(others) + 1, 2)
    rules = _rules(count, letters, words, theme, new_words)
    table = Table(rules, seats_of(others, count, seat), _seed(seed))
    say(f"seed {table.party.seed}; you are player_{seat}. {HELP}")
    try:
        while not table.party.over:
            answer = table.listen()
            table.party.say(answer if answer >= 0 else _ask(table.party))
            _tell(table.party, seat)
    except (EOFError, KeyboardInterrupt):
        say("\nstopped")
    finally:
        _save(table.party, record)


def _tell(party: Party, seat: int) -> None:
    """What a person at the table hears: every word of the others, and how a turn ends."""
    from domino_env.shopping.telling import OPENING, ending_text

    said = party.said[-1]
    if said.letter == 0 and said.seat != seat:
        say(f"\nplayer_{said.seat}: {OPENING}")
    if said.seat != seat and said.word < party.rules.num_words:
        say(f"  {party.rules.words(said.letter)[said.word]}")
    if said.new or not said.right:
        say("you are out" if said.seat == seat and not said.right else ending_text(party.rules, said))
    if party.over:
        say("you win" if seat in party.winners() else "the others win")


def _ask(party: Party) -> int:
    """What a person says; ``q`` is the end of input."""
    from domino_env.errors import NotationError
    from domino_env.shopping.words import LETTERS

    rules, letter = party.rules, party.due
    while True:
        answer = input(f"{LETTERS[letter]}> ").strip()
        if answer in ("q", "quit"):
            raise EOFError
        if answer in ("?", "help", ""):
            say(f"{HELP}\n  " + "  ".join(f"{number} {word}" for number, word in enumerate(rules.words(letter), 1)))
            continue
        if answer.isascii() and answer.isdecimal() and 1 <= int(answer) <= rules.num_words:
            return int(answer) - 1
        try:
            return rules.move_index(letter, answer)
        except NotationError as error:
            say(str(error))


@app.command()
def recite(
    specs: Speakers,
    players: Annotated[int, typer.Option(help="Number of players, 2 to 8; the others remember everything.")] = 3,
    letters: Annotated[list[int] | None, typer.Option(help="Letters of the alphabet; may be repeated. [default: 26]")] = None,
    words: Words = 4,
    theme: Theme = None,
    games: Annotated[int, typer.Option(help="Games that each policy plays.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the games.")] = 0,
    json: Json = False,
) -> None:
    """Measure the longest list that a policy recites before it is out, with 95 % intervals, beside what is possible without a memory.

    Example: domino shopping recite shopping/recurrent_ppo perfect random --letters 8 --letters 26
    """
    from domino_env.shopping.survival import measure_survival, memoryless_ceiling

    found: list[dict[str, Any]] = []
    for count in letters or [26]:
        rules = _rules(players, count, words, theme, "drawn")
        for spec in specs:
            with progress(f"{spec}, {count} letters") as tell:
                found.append({"letters": count, **measure_survival(spec, rules, games, seed, tell).to_json()})
        ceiling = float(memoryless_ceiling(rules))
        found.append({"letters": count, "policy": "most without a memory, exact", "recited": ceiling})
    if json:
        say_json(found)
        return
    columns = ("letters", "policy", "longest list recited, mean", "longest", "still in at the end")
    print_table(f"{players} players, {words} words a letter, {games:,} games each", columns, [_row(one) for one in found], left=2)


def _row(found: dict[str, Any]) -> Sequence[str]:
    first = [str(found["letters"]), found["policy"]]
    if "low" not in found:
        return [*first, f"{found['recited']:.3f}", "", ""]
    mean = f"{found['recited']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"
    return [*first, mean, str(found["longest"]), f"{found['survived']:.1%}"]


def say_party(party: Party) -> None:
    """The whole game, a line for each turn."""
    from domino_env.shopping.telling import story_text

    say(story_text(party))


def _rules(players: int, letters: int, words: int, theme: str | None, new_words: str) -> ShoppingRules:
    from domino_env.shopping.rules import ShoppingRules

    return ShoppingRules(players, letters, words, theme, new_words)


def _seed(seed: int | None) -> int:
    from domino_env.envs.options import check_seed, entropy_seed

    return check_seed(entropy_seed() if seed is None else seed)


def _save(party: Party, path: Path | None) -> None:
    if path is not None:
        from domino_env.commands.common import save_record_in
        from domino_env.shopping.records import to_record

        save_record_in(to_record(party), path)
