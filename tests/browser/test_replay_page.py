"""The replay page in a browser: a whole game by mouse and by keyboard alone, both themes, desk and phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from domino_env.pages import check_judge, save_replay_page
from domino_env.policies import load_policy
from domino_env.policies.pimc import PIMCPolicy
from tests.page_cases import golden, played

Page = Any
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    """A match of some rounds in which random errs."""
    return played("bergen", ["bergen/ppo", "random"], seed=9, episode="match")


@pytest.fixture(scope="module")
def html(record: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "game.html"
    thinkers = [[load_policy("bergen/ppo"), load_policy("random")], load_policy("bergen/dqn")]
    save_replay_page(path, record, thinkers=thinkers, judge_by=check_judge(PIMCPolicy(64), None), seats=["bergen/ppo", "random"])
    return path


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four hands and four arms: the most that there is to show."""
    path = tmp_path_factory.mktemp("page") / "crowd.html"
    save_replay_page(
        path, golden("all_fives_4p"), thinkers=[load_policy("all_fives/ppo_4players")], judge_by=check_judge(PIMCPolicy(8), None)
    )
    return path


def places(record: dict[str, Any]) -> list[str]:
    """Hash of every position, in order."""
    return [f"#{number}:{count}" for number, one in enumerate(record["rounds"]) for count in range(len(one["events"]) + 1)]


def where(page: Page) -> str:
    return str(page.evaluate("location.hash"))


def told(page: Page) -> str:
    return str(page.inner_text("#told"))


def tiles(page: Page) -> int:
    return int(page.locator("#table .tile").count())


def test_a_click_for_each_move_leads_through_the_game(page: Page, html: Path, record: dict[str, Any]) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(html.as_uri())
    all_places = places(record)
    said = set()
    for number, place in enumerate(all_places):
        assert where(page) == place
        rounds, count = map(int, place[1:].split(":"))
        events = record["rounds"][rounds]["events"][:count]
        assert tiles(page) == sum(event["move"] not in ("draw", "pass") for event in events)
        if tiles(page):
            assert page.locator("#table .tile.last").count() == 1
        said.add((rounds, told(page)))
        assert page.locator("#back").is_disabled() == (number == 0)
        assert page.locator("#forth").is_disabled() == (number == len(all_places) - 1)
        if number < len(all_places) - 1:
            page.click("#forth")
    assert len(said) > 0.9 * len(all_places)
    assert "wins the match" in told(page)
    for number in range(len(all_places) - 1, len(all_places) - 16, -1):
        page.click("#back")
        assert where(page) == all_places[number - 1]
    assert requests == [html.as_uri()]


def test_the_keyboard_alone_leads_through_the_game(page: Page, html: Path, record: dict[str, Any]) -> None:
    page.goto(html.as_uri())
    all_places = places(record)
    for place in all_places[1:]:
        page.keyboard.press("ArrowRight")
        assert where(page) == place
    page.keyboard.press("ArrowRight")
    assert where(page) == all_places[-1]
    page.keyboard.press("Home")
    assert where(page) == all_places[0]
    starts = [place for place in all_places if place.endswith(":0")]
    for place in starts[1:]:
        page.keyboard.press("PageDown")
        assert where(page) == place
    page.keyboard.press("ArrowRight")
    page.keyboard.press("PageUp")
    assert where(page) == starts[-1]
    page.keyboard.press("PageUp")
    assert where(page) == starts[-2]
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert where(page) == all_places[-2]


def test_every_control_is_reached_by_tab_and_shows_it(page: Page, html: Path) -> None:
    page.goto(html.as_uri() + "#0:4")
    reached = []
    for _ in range(200):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "(() => { const e = document.activeElement; const s = getComputedStyle(e);"
            " return [e.id || e.tagName, s.outlineStyle !== 'none' || e.className === 'skip' || e.tagName === 'BODY']; })()"
        )
        if found[0] in ("BODY", "HTML"):
            break
        assert found[1], f"{found[0]} does not show that it has the focus"
        reached.append(found[0])
    wanted = {"theme", "first", "back-round", "back", "play", "forth", "forth-round", "last", "slider", "thinker", "round", "SUMMARY"}
    assert wanted <= set(reached)
    page.focus("#moves button >> nth=2")
    page.keyboard.press("Enter")
    assert where(page) == "#0:2"
    page.focus("#worst button >> nth=0")
    page.keyboard.press("Enter")
    assert "A blunder: it loses" in told(page)


def test_a_place_can_be_linked_to_and_reloaded(open_page: Open, html: Path) -> None:
    page = open_page()
    page.goto(html.as_uri() + "#1:3")
    first = told(page)
    assert page.inner_text("#where") == "Round 1, move 3"
    page.keyboard.press("ArrowRight")
    page.reload()
    assert where(page) == "#1:4"
    page.evaluate("location.hash = '#1:3'")
    page.wait_for_function("document.getElementById('where').textContent === 'Round 1, move 3'")
    assert told(page) == first
    page.evaluate("location.hash = '#9:99'")  # no such place: it stays
    page.wait_for_function("location.hash === '#1:3'")
    other = open_page()
    other.goto(html.as_uri() + "#9:99")
    assert where(other) == "#0:0"


def test_it_plays_by_itself_until_somebody_steps(open_page: Open, html: Path) -> None:
    page = open_page()
    page.clock.install()
    page.goto(html.as_uri())
    page.keyboard.press(" ")
    assert page.inner_text("#play") == "Pause"
    assert page.get_attribute("#told", "aria-live") == "off"
    page.clock.run_for(3700)
    assert where(page) == "#0:3"
    page.keyboard.press(" ")
    page.clock.run_for(5000)
    assert (where(page), page.inner_text("#play")) == ("#0:3", "Play")
    page.click("#play")
    page.clock.run_for(1300)
    page.keyboard.press("ArrowLeft")
    page.clock.run_for(5000)
    assert where(page) == "#0:3"
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    page.click("#play")
    page.clock.run_for(9000)
    assert page.inner_text("#play") == "Play"  # the end stops it


def test_thoughts_show_every_move_with_its_chance_and_what_others_would_do(page: Page, html: Path) -> None:
    page.goto(html.as_uri())
    page.click("#worst button >> nth=0")
    rows = page.locator("#choices tbody tr")
    decision = page.evaluate("DATA.decisions[at]")
    assert rows.count() == len(decision["moves"]) > 1
    assert page.locator("#choices .tag.played").count() == 1
    assert page.locator("#choices .tag.bad").count() == 1
    assert page.locator("#choices tr.made .tag.best").count() == 0
    assert page.locator("#choices .tag >> text=greedy").count() == 1
    assert "Blunder" in page.inner_text("#thought")
    for number, thought in enumerate(decision["thoughts"]):
        page.select_option("#thinker", str(number))
        chances = [re.search(r"(<1|\d+) %", text) for text in rows.all_inner_texts()]
        shown = sorted(0 if found is None or found[1] == "<1" else int(found[1]) for found in chances)
        assert shown == pytest.approx(sorted(100 * chance for chance in thought["chance"]), abs=1)
        assert ("points to come" in page.inner_text("#thought")) == ("value" in thought)
    page.select_option("#thinker", str(len(decision["thoughts"])))
    assert "search:pimc?worlds=64 expects" in page.inner_text("#thought")
    assert page.locator("#chart polyline").count() > 1


def test_the_chart_and_the_lists_lead_to_a_place(open_page: Open, html: Path, record: dict[str, Any]) -> None:
    page = open_page()
    page.goto(html.as_uri())
    box = page.locator("#chart svg").bounding_box()
    page.mouse.click(box["x"] + box["width"] - 9, box["y"] + 20)
    assert where(page) == places(record)[-1]
    page.select_option("#round", "1")
    assert where(page) == "#1:0"
    page.locator("#moves button").nth(5).click()
    assert where(page) == "#1:5"
    assert page.locator("#moves button[aria-current=step]").inner_text().startswith("5.")
    page.fill("#slider", "0")
    assert where(page) == "#0:0"


@pytest.mark.parametrize("seat", [1, None])
def test_hidden_hands_are_backs(open_page: Open, tmp_path: Path, record: dict[str, Any], seat: int | None) -> None:
    path = tmp_path / "hidden.html"
    save_replay_page(path, record, judge_by=check_judge(PIMCPolicy(4), None), seat=seat, reveal=False)
    page = open_page()
    page.goto(path.as_uri())
    hidden = 12 if seat is None else 6
    assert page.locator("#hands svg >> text=hidden tile").count() == hidden
    assert page.locator("#hands .tiles li").count() == 12
    assert "is hidden, and so is what it thought" in page.inner_text("#thought")
    assert page.locator("#worst-section").is_visible() == (seat is not None)
    page.keyboard.press("End")
    assert "wins the match" in told(page)


@pytest.mark.parametrize(("width", "scheme"), [(360, "dark"), (390, "light"), (1280, "light"), (1280, "dark")])
def test_nothing_serious_for_a_screen_reader(
    open_page: Open, axe: Callable[[Page], None], html: Path, crowded: Path, scheme: str, width: int
) -> None:
    page = open_page(width, 900 if width > 400 else 740, color_scheme=scheme)
    for file, hashes in ((html, ("#0:0", "#0:4")), (crowded, ("#0:14",))):
        for place in hashes:
            page.goto(file.as_uri() + place)
            page.reload()
            axe(page)
        page.click("summary")
        page.keyboard.press("End")
        axe(page)


def test_the_theme_can_be_chosen_and_is_remembered(open_page: Open, html: Path) -> None:
    page = open_page(color_scheme="light")
    page.goto(html.as_uri())

    def ground() -> str:
        return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))

    light = ground()
    page.click("#theme")
    assert (page.inner_text("#theme"), ground()) == ("Theme: light", light)
    page.click("#theme")
    dark = ground()
    assert page.inner_text("#theme") == "Theme: dark"
    assert dark != light
    page.reload()
    assert ground() == dark
    page.click("#theme")
    assert (page.inner_text("#theme"), ground()) == ("Theme: auto", light)


def test_pictures(open_page: Open, html: Path, crowded: Path, shot: Callable[..., Path]) -> None:
    for scheme in ("light", "dark"):
        for width, height in ((1280, 900), (390, 844)):
            page = open_page(width, height, color_scheme=scheme)
            page.goto(html.as_uri() + "#0:4")
            assert shot(page, f"replay_{scheme}").stat().st_size > 20_000
            page.goto(crowded.as_uri() + "#0:14")
            page.reload()
            assert shot(page, f"replay_crowd_{scheme}").stat().st_size > 20_000
