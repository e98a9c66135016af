"""``domino play --web`` in a browser: whole games by mouse and by keyboard alone, reloads and restarts in the middle, and what axe says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from domino_env.notation import load_record, replay
from tests.browser.serving import Serving

Page = Any
Check = Callable[[Page], None]

READY = ", ".join(['#hand [aria-disabled="false"]', *(f"#{name}:visible:enabled" for name in ("draw", "pass", "next")), "#rematch:visible"])


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    running = Serving(tmp_path / "games")
    yield running
    running.stop()


def wait(page: Page) -> None:
    """Until the person has something to do."""
    page.wait_for_selector(READY)


def can(page: Page, name: str) -> bool:
    button = page.locator(f"#{name}")
    return bool(button.is_visible() and button.is_enabled())


def click_on(page: Page) -> bool:
    """One move with the mouse, the first that there is; False when the game is over."""
    wait(page)
    if can(page, "rematch"):
        return False
    for name in ("next", "draw", "pass"):
        if can(page, name):
            page.click(f"#{name}")
            return True
    page.locator('#hand [aria-disabled="false"]').first.click()
    if page.locator("#places").is_visible():
        page.locator("#places button").first.click()
    return True


def type_on(page: Page) -> bool:
    """One move with the keyboard alone: Tab from where the focus is until something can be done, then Enter."""
    wait(page)
    if can(page, "rematch"):
        return False
    for _ in range(60):
        here = page.evaluate("""() => {
          const it = document.activeElement;
          const place = it.closest("#places") && !it.classList.contains("plain");
          return place || ["draw", "pass", "next"].includes(it.id) || (it.closest("#hand") && it.getAttribute("aria-disabled") === "false");
        }""")
        if here:
            break
        page.keyboard.press("Tab")
    assert here, "nothing that can be done is reached by Tab"
    page.keyboard.press("Enter")
    if page.locator("#places").is_visible():
        assert page.evaluate("document.activeElement.closest('#places') !== null"), "the focus is not at the places"
        page.keyboard.press("Enter")
    return True


def play(page: Page, move: Callable[[Page], bool], most: int) -> int:
    """Play until the game is over or ``most`` moves were made; returns their number."""
    for made in range(most):
        if not move(page):
            return made
    return most


def test_a_whole_round_by_mouse(page: Page, serving: Serving, axe: Check, shot: Any, tmp_path: Path) -> None:
    table = serving.table(variant="all_fives", specs=[None, "greedy", "random", "all_fives/ppo_4players"], episode="round", seed=5)
    page.goto(serving.address(table))
    wait(page)
    shot(page, "round_start")
    play(page, click_on, 4)
    wait(page)
    axe(page)
    shot(page, "round_middle", full_page=False)
    made = play(page, click_on, 60)
    assert made < 60, "the round does not end"
    axe(page)
    shot(page, "round_over", full_page=False)
    assert "win the round" in page.text_content("#end") or "wins the round" in page.text_content("#end")
    with page.expect_download() as download:
        page.click("#record")
    record = load_record(download.value.path())
    assert record == table.record()
    assert replay(record).over
    assert download.value.suggested_filename == "game.json"


def test_a_whole_match_by_keyboard_with_a_reload_and_a_restart(open_page: Any, serving: Serving, axe: Check, shot: Any) -> None:
    page = open_page(360, 740, color_scheme="dark")
    table = serving.table(variant="bergen", specs=["greedy", None], rules={"target": {"2": 5}}, seed=12)
    page.goto(serving.address(table))
    assert play(page, type_on, 3) == 3
    wait(page)
    before = page.inner_text("main")
    page.reload()
    wait(page)
    assert page.inner_text("#hand-section") in before
    assert play(page, type_on, 2) == 2
    wait(page)
    steps = list(table.steps)
    serving.stop()
    page.evaluate("window.dispatchEvent(new Event('focus'))")
    page.wait_for_selector("#banner:visible")
    shot(page, "no_server")
    page.faults.clear()  # that the server did not answer
    serving.start()
    page.wait_for_selector("#banner", state="hidden")
    page.faults.clear()
    assert serving.room.table(table.name).steps == steps
    assert play(page, type_on, 200) < 200, "the match does not end"
    axe(page)
    shot(page, "match_over", full_page=False)
    table = serving.room.table(table.name)
    assert table.game.over
    assert table.steps[: len(steps)] == steps
    assert len(table.game.rounds) > 1, "a match of one round tests no next round"
    assert page.locator("#scores tbody tr").count() == len(table.game.rounds)


def test_two_tabs_play_one_game(open_page: Any, serving: Serving) -> None:
    """The second tab stands at a position that is gone: its move is refused, and it is shown how the game stands."""
    table = serving.table(variant="fives_and_threes", specs=[None, "random"], seed=2)
    one, other = open_page(), open_page()
    one.goto(serving.address(table))
    play(one, click_on, 1)
    wait(one)
    other.goto(serving.address(table))
    wait(other)
    choices = [move["tile"] for move in table.view(-1)["frames"][-1]["moves"]]
    assert choices[0] != choices[-1]
    click_on(one)
    wait(one)
    steps = list(table.steps)
    other.evaluate("document.querySelectorAll('#hand [aria-disabled=false]')[1].click()")
    if other.is_visible("#places"):
        other.locator("#places button").first.click()
    other.wait_for_selector('#told:has-text("That move was not made")')
    wait(other)
    other.faults.clear()  # the answer 409
    assert table.steps == steps
    assert other.inner_text("#hand") == one.inner_text("#hand")
    assert other.inner_text("#moves") == one.inner_text("#moves")


def test_start_page_sets_a_table(page: Page, serving: Serving, axe: Check, shot: Any) -> None:
    page.goto(serving.url)
    page.wait_for_selector("#opponents select")
    axe(page)
    page.select_option("#variant", "fives_and_threes")
    page.select_option("#seats", "5")
    assert page.locator("#opponents select").count() == 4
    page.select_option("#seats", "4")
    page.check("#sides")
    page.select_option("#seat", "2")
    page.select_option("#episode", "round")
    page.select_option("#policy-1", "another")
    page.fill("#path-1", "no/such.safetensors")
    shot(page, "start")
    page.click("#sit")
    page.wait_for_selector('#fault:has-text("no/such.safetensors")')
    assert page.evaluate("document.activeElement.id") == "path-1"
    page.faults.clear()  # the answer 400
    axe(page)
    page.select_option("#policy-1", "search:pimc?worlds=64")
    page.fill("#seed", "18446744073709551615")
    page.click("#sit")
    page.wait_for_url("**/game/*")
    wait(page)
    (name,) = serving.room.journal.names()
    setup = serving.room.journal.load(name).setup
    assert (setup.rules.sides, setup.seat, setup.one_round, setup.seed) == (True, 2, True, 2**64 - 1)
    assert setup.specs[1] == "search:pimc?worlds=64"
    page.goto(serving.url)
    page.click("text=Play on")
    page.wait_for_url(f"**/game/{name}")
    wait(page)
    page.goto(serving.url)
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("text=Remove")
    page.wait_for_selector("#games-section", state="hidden")
    assert serving.room.journal.names() == []


def test_hints_and_places(page: Page, serving: Serving, axe: Check, shot: Any) -> None:
    """A double that may lie two ways, an end that is clicked, Escape, and a hint that is what its policy would do."""
    table = serving.table(variant="fives", specs=[None, "greedy"], seed=8, episode="round")
    page.goto(serving.address(table))
    for _ in range(40):
        wait(page)
        tiles = [move.get("tile") for move in table.view(-1)["frames"][-1]["moves"]]
        twice = next((tile for tile in tiles if tile and tiles.count(tile) > 1), None)
        if twice and table.game.rounds[-1].events:
            break
        assert click_on(page), "no tile had two places in this game"
    page.select_option("#adviser", "greedy")
    page.click("#hint")
    page.wait_for_selector('#hinted:has-text("greedy would")')
    tile = page.locator(f'#hand button[value="{twice}"]')
    tile.click()
    page.wait_for_selector("#places:visible")
    assert page.locator("#table .end.open").count() > 0
    axe(page)
    shot(page, "places", full_page=False)
    page.keyboard.press("Escape")
    assert not page.is_visible("#places")
    assert page.evaluate("document.activeElement.value") == twice
    before = len(table.steps)
    tile.click()
    page.locator("#table .end.open").first.click()
    if page.is_visible("#places"):
        page.locator("#places button").first.click()
    wait(page)
    assert table.steps[before].startswith(twice)


def test_moves_of_others_come_one_after_another(open_page: Any, serving: Serving) -> None:
    """With motion the page waits between them; the server has long gone on."""
    page = open_page(1280, 900, reduced_motion="no-preference")
    table = serving.table(variant="fives_and_threes", specs=["random", "random", "random", None], seed=1, episode="round")
    page.goto(serving.address(table))
    wait(page)
    click_on(page)
    seen = set()
    for _ in range(60):
        seen.add(page.locator("#moves li").count())
        page.wait_for_timeout(50)
    assert len(seen) >= 3, seen
    wait(page)


def test_screen_reader_is_told_every_move(open_page: Any, serving: Serving) -> None:
    page = open_page()
    table = serving.table(variant="block", specs=[None, "greedy", "greedy"], seed=4, episode="round")
    page.goto(serving.address(table))
    click_on(page)
    wait(page)
    said = page.locator("#log p").all_text_contents()
    moves = table.view(-1)["moves"]
    # what was before one's own move may have been on the page as it opened
    mine = next(number for number, event in enumerate(moves) if event["seat"] == 0)
    assert len(moves) - mine == 3
    for event in moves[mine:]:
        assert any(event["words"] in line for line in said), (event, said)
    assert said[-1].startswith("Your turn")
