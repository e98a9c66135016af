"""The render modes of the environments: text, pixels, a window."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import render_test

from domino_env.engine.state import LOG
from domino_env.envs.aec import DominoAECEnv, env, raw_env
from domino_env.envs.gym_env import DominoGymEnv
from domino_env.envs.vector import DominoVectorEnv
from domino_env.errors import OptionsError, RenderModeError
from domino_env.rendering.film import check_film
from domino_env.rendering.scene import HEIGHT, WIDTH
from domino_env.variants import VARIANTS
from tests.picture_cases import frame

FAST = 1e4


@pytest.fixture(autouse=True)
def _no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows open nowhere, and nobody waits for them."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for kind in (DominoAECEnv, DominoGymEnv):
        monkeypatch.setitem(kind.metadata, "render_fps", FAST)


# ------------------------------------------------------------------------------------------------------- environments


@pytest.mark.parametrize("variant", VARIANTS)
def test_pettingzoo_render_test(variant: str) -> None:
    seats = max(VARIANTS[variant].players)
    assert DominoAECEnv.metadata["render_modes"] == ["ansi", "rgb_array", "human"]
    render_test(lambda **kwargs: env(variant, num_players=seats, **kwargs))


def test_the_window() -> None:
    import pygame

    game = raw_env("bergen", render_mode="human")
    game.reset(seed=1)
    surface = pygame.display.get_surface()
    assert surface is not None
    assert surface.get_size() == (WIDTH, HEIGHT)
    assert pygame.display.get_caption()[0] == "bergen_v0"
    for _ in range(3):
        game.step(game.game.legal_actions()[0])
        assert game.render() is None
        shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
        assert np.array_equal(shown, frame(game.game, game.game.seat))
    game.close()
    game.close()
    assert pygame.display.get_surface() is None
    game.step(game.game.legal_actions()[0])  # opens it again
    assert pygame.display.get_surface() is not None
    game.close()


def test_a_user_may_close_the_window() -> None:
    import pygame

    game = raw_env("bergen", render_mode="human")
    game.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    game.step(game.game.legal_actions()[0])
    assert pygame.display.get_surface() is None
    game.step(game.game.legal_actions()[0])
    assert pygame.display.get_surface() is None
    game.reset(seed=2)
    assert pygame.display.get_surface() is not None
    game.close()


def test_copies_have_no_window() -> None:
    import pygame

    game = raw_env("bergen", render_mode="human")
    game.reset(seed=1)
    clone, pickled = game.clone(), pickle.loads(pickle.dumps(game))
    for other in (clone, pickled):
        assert other._window is None
        other.close()
        assert pygame.display.get_surface() is not None
        other.step(other.game.legal_actions()[0])  # takes the window over
    game.close()
    assert pygame.display.get_surface() is not None
    game.step(game.game.legal_actions()[0])
    pickled.close()
    assert pygame.display.get_surface() is not None
    game.close()
    assert pygame.display.get_surface() is None


def test_the_pace_of_the_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many moves a second as ``metadata["render_fps"]`` says."""
    import time

    game = raw_env("block", render_mode="human")
    game.metadata["render_fps"] = 20
    game.reset(seed=1)
    start = time.perf_counter()
    for _ in range(5):
        game.step(game.game.legal_actions()[0])
    assert time.perf_counter() - start > 0.2
    game.close()


def test_no_display(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "none such")
    game = raw_env("bergen", render_mode="human")
    with pytest.raises(RenderModeError, match="needs a display"):
        game.reset(seed=1)
    game.close()
    pixels = raw_env("bergen", render_mode="rgb_array")
    pixels.reset(seed=1)
    assert isinstance(pixels.render(), np.ndarray)


@pytest.mark.parametrize("mode", ["rgb_array", "human"])
def test_without_pygame(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(RenderModeError, match=r"pip install \"domino-env\[render\]\"; 'ansi' needs nothing"):
        raw_env("bergen", render_mode=mode)
    game = raw_env("bergen", render_mode="ansi")
    game.reset(seed=1)
    assert isinstance(game.render(), str)
    assert game.to_svg(seat=0).startswith("<svg")
    with pytest.raises(RenderModeError, match=r"film in \.gif needs pygame"):
        check_film("film.gif")


def test_pictures_need_no_pygame() -> None:
    """SVG and text load nothing but this package."""
    import subprocess

    code = (
        "import sys; from domino_env import bergen_v0; env = bergen_v0.raw_env(render_mode='ansi'); env.reset(seed=1); "
        "env.render(); env.to_svg(); assert 'pygame' not in sys.modules and 'PIL' not in sys.modules and 'av' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("mode", ["rgb", "rgb_array_list", 3, ["ansi"]])
def test_wrong_modes(mode: Any) -> None:
    for make in (raw_env, DominoGymEnv):
        with pytest.raises(RenderModeError, match="but it is None, 'ansi', 'rgb_array' or 'human'"):
            make("bergen", render_mode=mode)
    with pytest.raises(RenderModeError, match="but it is None or 'rgb_array'"):
        DominoVectorEnv("bergen", render_mode=mode)


def test_before_the_first_reset() -> None:
    for mode in ("ansi", "rgb_array", "human"):
        game = raw_env("bergen", render_mode=mode)
        with pytest.raises(OptionsError, match="no game yet"):
            game.render()
        assert game._repr_svg_() is None
        with pytest.raises(OptionsError, match="no game yet"):
            game.to_svg()
        game.close()
    with pytest.raises(OptionsError, match="no game yet"):
        DominoVectorEnv("bergen", render_mode="rgb_array").render()
    assert DominoVectorEnv("bergen").render() is None


@pytest.mark.parametrize("mode", ["ansi", "rgb_array", "human"])
def test_gymnasium_renders_the_learners_view(mode: str) -> None:
    game = gymnasium.make("domino/bergen-v0", num_players=3, opponents="greedy", render_mode=mode)
    table: Any = game.unwrapped
    _, info = game.reset(seed=3)
    over = False
    while not over:
        _, _, over, _, info = game.step(int(np.argmax(info["action_mask"])))
        seat = table.learner_seat
        drawn: Any = game.render()
        if mode == "rgb_array":
            assert np.array_equal(drawn, frame(table.table.game, seat))
        elif mode == "ansi":
            assert f"seat {seat}" in drawn
        else:
            assert drawn is None
            assert table.table.onlooker == seat
        assert table._repr_svg_() == table.to_svg(seat=seat)
    game.close()
    game.close()


def test_what_gymnasium_asks_for() -> None:
    game = gymnasium.make("domino/block-v0", opponents="greedy", illegal="lose", render_mode="rgb_array")
    check_env(game.unwrapped, skip_render_check=True)
    listed = gymnasium.make("domino/block-v0", render_mode="rgb_array_list")
    _, info = listed.reset(seed=1)
    listed.step(int(np.argmax(info["action_mask"])))
    assert [one.shape for one in listed.render()] == [(HEIGHT, WIDTH, 3)] * 2  # type: ignore[union-attr]
    for made in (game, listed):
        made.close()


@pytest.mark.parametrize("variant", ["bergen", "lucky_threes", "all_fives", "fives_and_threes"])
def test_a_batch_shows_what_single_games_show(variant: str) -> None:
    kwargs: dict[str, Any] = {"num_players": 3, "opponents": "greedy", "render_mode": "rgb_array"}
    batch = gymnasium.make_vec(f"domino/{variant.replace('_', '-')}-v0", num_envs=2, **kwargs)
    single = gymnasium.make_vec(f"domino/{variant.replace('_', '-')}-v0", num_envs=2, vectorization_mode="sync", **kwargs)
    assert batch.metadata["render_fps"] > 0
    batch.reset(seed=9)
    _, info = single.reset(seed=9)
    for _ in range(4):
        frames, wanted = batch.render(), single.render()
        assert len(frames) == 2  # type: ignore[arg-type]
        assert all(np.array_equal(a, b) for a, b in zip(frames, wanted, strict=True))  # type: ignore[arg-type]
        actions = np.argmax(np.stack(list(info["action_mask"])), axis=1)
        *_, done, _, info = single.step(actions)
        batch.step(actions)
        if done.any():
            break
    batch.close()
    single.close()


def test_a_round_that_a_row_cannot_tell() -> None:
    batch = DominoVectorEnv("bergen", render_mode="rgb_array", episode="match")
    batch.reset(seed=0)
    assert len(batch.render() or ()) == 1
    batch.games.rows["log_size"] = LOG + 1
    with pytest.raises(OptionsError, match=f"a round of {LOG + 1} moves"):
        batch.render()
