"""The benchmark: a protocol that stands still, results that can be checked, and every way to plug a policy in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.references import FIRST_DEALS, REFERENCES
from domino_env.arena import compare
from domino_env.arena.portions import DealTable, Player
from domino_env.benchmark import PROTOCOL_VERSION, SETTINGS, Limits, Result, ResultError, check_result, export_onnx, protocol, run
from domino_env.benchmark.adapters import open_entrant
from domino_env.benchmark.onnx_policy import OnnxPolicy
from domino_env.benchmark.playing import play_pair
from domino_env.errors import CheckpointError, DominoError, OptionsError, PolicyError
from domino_env.policies import Batch, GreedyPolicy, load_policy
from domino_env.variants import VARIANTS
from tests.command_cases import Run
from tests.policy_cases import positions, random_checkpoint

ROOT = Path(__file__).resolve().parents[1]
BERGEN = SETTINGS["bergen/2"]
REFERENCE = json.loads((ROOT / "docs" / "benchmark.json").read_text(encoding="utf-8"))


def first_legal(observation: Any, action_mask: Any) -> Any:
    assert observation.dtype == np.float32
    return action_mask.argmax(axis=1)


def without_times(result: Result) -> Any:
    told = result.to_json()
    for setting in told["settings"]:
        for pair in setting["pairs"]:
            del pair["time"]
    return told


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A full run is as small as a quick one."""
    for track, deals in (("two", 20), ("more", 5)):
        for size in ("quick", "full"):
            monkeypatch.setitem(protocol._DEALS, (track, size), deals)


# ----------------------------------------------------------------------------------------------------------- protocol


def test_the_protocol_has_all_variants_and_deals_of_its_own() -> None:
    assert PROTOCOL_VERSION == 1
    assert [setting.variant for setting in SETTINGS.values() if setting.track == "two"] == list(VARIANTS)
    assert {setting.num_players for setting in SETTINGS.values()} == {2, 3, 4, 5}
    assert any(setting.sides for setting in SETTINGS.values())
    seeds = [setting.seed for setting in SETTINGS.values()]
    assert len(set(seeds)) == len(seeds)
    # a training has a seed below 2**31, and its games are those from there on
    assert all(1 << 31 <= seed < 1 << 32 for seed in seeds)
    assert all(setting.deals("full") > 5 * setting.deals("quick") for setting in SETTINGS.values())


@pytest.mark.parametrize("name", SETTINGS)
def test_opponents_and_rules_are_those_of_the_protocol(name: str) -> None:
    setting = SETTINGS[name]
    assert setting.rules.fingerprint() == setting.fingerprint
    assert [opponent.spec for opponent in setting.opponents[:2]] == ["greedy", "search:pimc?worlds=64"]
    for opponent in setting.opponents:
        assert opponent.load(setting)
        assert (opponent.digest is None) == (opponent.spec in ("greedy", "search:pimc?worlds=64"))


@pytest.mark.parametrize("name", SETTINGS)
def test_spreads_are_those_of_greedy_and_no_round_goes_beyond_ten(name: str) -> None:
    setting = SETTINGS[name]
    table = DealTable(setting.rules, setting.num_players, True, 3000 // setting.rounds_per_deal, 3_000_000_000)
    greedy, random = (Player(spec, load_policy(spec)) for spec in ("greedy", "random"))
    margins = np.concatenate([table.play(deals, greedy, greedy).margins for deals in table.portions()])
    assert np.sqrt((margins**2).mean()) == pytest.approx(setting.spread, rel=0.08)
    margins = np.concatenate([table.play(deals, random, greedy).margins for deals in table.portions()])
    assert np.abs(margins).max() < setting.forfeit


def test_another_checkpoint_under_the_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = random_checkpoint(tmp_path / "ppo.safetensors")
    monkeypatch.setattr(protocol, "bundled_checkpoints", lambda: {"bergen/ppo": path})
    with pytest.raises(PolicyError, match=r"opponent 'bergen/ppo': the checkpoint here has digest [0-9a-f]{64}, but protocol 1"):
        run("greedy", variants=["bergen/2"], size="quick")


def test_other_rules_under_the_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VARIANTS, "bergen", VARIANTS["bergen"].replace(reserve=3))
    with pytest.raises(OptionsError, match="setting bergen/2: the rules here are"):
        run("greedy", variants=["bergen/2"], size="quick")


@pytest.mark.parametrize("name", ["bergen/2", "draw/2", "all_fives/4", "block/4-sides"])
def test_points_are_those_of_the_arena(name: str) -> None:
    setting = SETTINGS[name]
    for opponent in setting.opponents[:1] + setting.opponents[2:]:
        mine = play_pair(setting, opponent, open_entrant("random", setting), 30)
        theirs = compare(
            ["random", opponent.spec], setting.rules, num_players=setting.num_players, deals=30, seed=setting.seed, rating=False
        ).pairs[0]
        for one, other in ((mine.points, theirs.points), (mine.won, theirs.won)):
            assert one.mean == pytest.approx(other.mean, abs=1e-6)
            # numbers by deal are rounded, so that other deals may be drawn anew
            assert [one.low, one.high] == pytest.approx([other.low, other.high], abs=0.1 * other.half)
        assert mine.score.mean == pytest.approx(100 * mine.points.mean / setting.spread)


# ------------------------------------------------------------------------------------------------------------ results


def test_a_policy_against_itself_has_no_points() -> None:
    assert play_pair(BERGEN, BERGEN.opponents[2], open_entrant("bergen/ppo", BERGEN), 30).points_by_deal == (0.0,) * 30


def test_two_runs_are_the_same_but_for_times_and_a_resumed_one_too(small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["bergen", "draw"]
    straight = run("random", variants=names, out=tmp_path / "straight.json")
    assert without_times(straight) == without_times(run("random", variants=names))
    for stop in (1, 3, 5):
        path, played = tmp_path / f"{stop}.json", []

        def interrupted(*arguments: Any, stop: int = stop, played: list[Any] = played) -> Any:
            if len(played) == stop:
                raise KeyboardInterrupt
            played.append(arguments)
            return play_pair(*arguments)

        monkeypatch.setattr("domino_env.benchmark.playing.play_pair", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run("random", variants=names, out=path)
        held = json.loads(path.read_text())
        assert sum(len(setting["pairs"]) for setting in held["settings"]) == stop
        monkeypatch.setattr("domino_env.benchmark.playing.play_pair", play_pair)
        assert without_times(run("random", variants=names, out=path)) == without_times(straight)
    told = json.loads((tmp_path / "straight.json").read_text())
    assert told == straight.to_json()
    monkeypatch.setattr("domino_env.benchmark.playing.play_pair", None)
    assert run("random", variants=["bergen"], out=tmp_path / "straight.json").to_json() == told


def test_scores_are_means_of_what_is_whole(small: None) -> None:
    result = run(first_legal)
    for track in ("two", "more"):
        scores = [found.score for found in result.settings.values() if found.setting.track == track]
        score = result.scores[track]
        assert score is not None
        assert score.mean == pytest.approx(np.mean([one.mean for one in scores if one]))
        assert score.high - score.low == pytest.approx(
            np.sqrt(sum((one.high - one.low) ** 2 for one in scores if one)) / len(scores), rel=0.1
        )
    bergen = result.settings["bergen/2"]
    assert bergen.score is not None
    assert bergen.score.mean == pytest.approx(np.mean([pair.score.mean for pair in bergen.pairs]))
    assert run(first_legal, variants=["bergen"]).scores == {"two": None, "more": None}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"policy": "greedy"}, "it holds a result of policy 'random', but this is 'greedy': name another file"),
        ({"size": "full"}, "size 'quick', but this is 'full'"),
        ({"name": "Rosa"}, "name 'random', but this is 'Rosa'"),
        ({"limits": Limits(decision_seconds=60)}, "limits {"),
    ],
)
def test_a_file_of_another_run_is_not_gone_on_with(small: None, tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = tmp_path / "result.json"
    arguments = {"policy": "random", "variants": ["bergen/2"], "size": "quick", "out": path}
    run(**arguments)
    before = path.read_bytes()
    with pytest.raises(ResultError) as caught:
        run(**{**arguments, **changes})
    assert message in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", ["checkpoint", "python"])
def test_a_policy_that_changed_under_its_name_is_not_gone_on_with(small: None, tmp_path: Path, kind: str, whole: bool) -> None:
    """Whether anything is left to play or not: the figures of the old one are not printed as those of the new one."""
    path = tmp_path / "result.json"

    def make(seed: int) -> str:
        if kind == "checkpoint":
            return str(random_checkpoint(tmp_path / "mine.safetensors", seed=seed))
        (tmp_path / "mine.py").write_text(f"def act(observation, mask):\n    return mask.argmax(axis=1)  # {seed}\n")
        return f"{tmp_path / 'mine.py'}:act"

    spec = make(1)
    first = run(spec, variants=["bergen/2"], out=path)
    assert run(spec, variants=["bergen/2"], out=path).to_json() == first.to_json()
    if not whole:
        told = json.loads(path.read_text())
        told["settings"][0]["pairs"].pop()
        told["settings"][0]["score"] = None
        path.write_text(json.dumps(told))
    make(2)
    with pytest.raises(ResultError, match=r"result.json: bergen/2: its opponents so far met the policy with digest"):
        run(spec, variants=["bergen/2"], out=path)


# ------------------------------------------------------------------------------------------------------------ checking


@pytest.fixture
def handed_in(small: None, tmp_path: Path) -> Path:
    """A result of two settings."""
    path = tmp_path / "result.json"
    run(first_legal, variants=["bergen"], out=path, name="first legal")
    return path


def test_a_result_that_is_handed_in_is_read_back(handed_in: Path) -> None:
    result = check_result(handed_in)
    assert result.policy == "first legal"
    assert result.to_json() == json.loads(handed_in.read_text())


def put(*keys: Any) -> Callable[[Any], None]:
    """Writes the last of ``keys`` to the place that the others lead to."""

    def change(told: Any) -> None:
        for key in keys[:-2]:
            told = told[key]
        told[keys[-2]] = keys[-1](told[keys[-2]]) if callable(keys[-1]) else keys[-1]

    return change


PAIR = ("settings", 0, "pairs", 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put(*PAIR, "points", "mean", lambda mean: mean + 0.01), "bergen/2 against search:pimc?worlds=64: points: mean"),
        (put(*PAIR, "points", "low", lambda low: low + 0.5), "points: low"),
        (put(*PAIR, "won", "mean", 0.9), "won: mean"),
        (put(*PAIR, "score", "high", 99.0), "score: high"),
        (put(*PAIR, "points_by_deal", 0, 3), "points: mean"),
        (put(*PAIR, "points_by_deal", 0, 38), "points beyond 37"),
        (put(*PAIR, "points_by_deal", 0, True), "points_by_deal cannot be"),
        (put(*PAIR, "won_by_deal", lambda values: values[1:]), "20 and 19 numbers by deal, but there are 20 deals"),
        (put(*PAIR, "won_by_deal", 3, 1.5), "a share of wins beyond 0 to 1"),
        (put(*PAIR, "opponent", "random"), "opponent 'random' with digest None, but protocol 1 has 'search:pimc?worlds=64'"),
        (put("settings", 0, "pairs", 2, "opponent_digest", "a" * 64), f"with digest {'a' * 64}, but protocol 1 has 'bergen/ppo'"),
        (put(*PAIR, "rounds", 4000), "4000 rounds of which 0 are forfeited, but 40 were played"),
        (put(*PAIR, "forfeits", {"crash": 41}), "41 are forfeited, but 40 were played"),
        (put(*PAIR, "forfeits", {"crash": 40}), "with 40 forfeited it is -37 at most"),
        (put(*PAIR, "forfeits", {"boredom": 1}), "forfeits cannot be"),
        (put(*PAIR, "time", {}), "but it has the fields ['decisions', 'microseconds', 'seconds']"),
        (put("settings", 0, "deals", 2000), "bergen/2: deals 2000, but protocol 1 has 20"),
        (put("settings", 0, "seed", 7), "seed 7"),
        (put("settings", 0, "spread", 1.0), "spread 1.0"),
        (put("settings", 0, "rules_fingerprint", "0"), "rules_fingerprint '0'"),
        (put("settings", 0, "setting", "bergen/7"), "'bergen/7' is none of protocol 1"),
        (put("settings", 1, lambda _: None), "setting: None"),
        (put("settings", 0, "score", None), "bergen/2: score: None, but the deals make it"),
        (put("settings", lambda both: [both[0], both[0]]), "bergen/2: it is there twice"),
        (put("settings", []), "it holds no setting"),
        (put("settings", 0, "note", "well played"), "but it has the fields"),
        (put("scores", "two", {"mean": 1.0, "low": 0.0, "high": 2.0}), "score of track two"),
        (put("protocol", 2), "protocol 2, but this version of domino_env has protocol 1"),
        (put("format", 0), "format 0"),
        (put("benchmark", "chess"), "no result file of this benchmark"),
        (put("size", "huge"), "size cannot be 'huge'"),
        (put("limits", "decision_seconds", 60), "played under limits"),
        (put("policy", "name", 7), "name cannot be 7"),
        (put("policy", "kind", "telepathy"), "kind cannot be 'telepathy'"),
        (put("policy", "kind", []), "kind cannot be []"),
        (put("machine", "cores", "many"), "cores cannot be 'many'"),
        (put("machine", {}), "machine: fields [], but it has the fields ['cores'"),
        (put("policy", "kind", "checkpoint"), "policy_digest None cannot be that of a policy of kind 'checkpoint'"),
        (put("settings", 0, "policy_digest", "ab"), "policy_digest cannot be 'ab'"),
        (put(*PAIR, "opponent_digest", "ab"), "opponent_digest cannot be 'ab'"),
        (put(*PAIR, "time", "seconds", -1.0), "seconds cannot be -1.0"),
        (put(*PAIR, "time", "seconds", 10**400), "seconds cannot be 1000"),
        (put(*PAIR, "time", "decisions", 10**400), "decisions cannot be 1000"),
        (put(*PAIR, "points_by_deal", 0, 10**400), "points_by_deal cannot be"),
        (put(*PAIR, "time", "microseconds", lambda each: each + 1), "but its decisions and seconds make it"),
        (put("versions", {}), "versions: of [], but they are of ['domino-env', 'numba', 'numpy']"),
        (put(*PAIR, "points", "mean", float("nan")), "no result file (NaN is no number)"),
    ],
)
def test_a_result_that_was_tampered_with_is_refused(handed_in: Path, change: Callable[[Any], None], message: str) -> None:
    told = json.loads(handed_in.read_text())
    change(told)
    handed_in.write_text(json.dumps(told))
    with pytest.raises(ResultError) as caught:
        check_result(handed_in)
    assert message in str(caught.value)


def test_what_is_not_whole_or_not_full_is_not_handed_in(small: None, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    run("random", variants=["bergen/2"], size="quick", out=path)
    with pytest.raises(ResultError, match="size 'quick', but only 'full' is a result to hand in"):
        check_result(path)
    run("random", variants=["bergen/2"], out=tmp_path / "full.json")
    told = json.loads((tmp_path / "full.json").read_text())
    told["settings"][0]["pairs"].pop()
    told["settings"][0]["score"] = None
    path.write_text(json.dumps(told))
    with pytest.raises(ResultError, match="bergen/2 is not finished: the policy met greedy, search:pimc"):
        check_result(path)
    for text in ("", "[]", "{", "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "[" * 100_000):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ResultError, match=r"result\.json: "):
            check_result(path)
    with pytest.raises(ResultError, match="cannot be read"):
        check_result(tmp_path / "none.json")


# ----------------------------------------------------------------------------------------------------- plugging it in


def test_python_code_is_named_as_module_or_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: None) -> None:
    (tmp_path / "entrants_of_mine.py").write_text(
        "from domino_env.policies import GreedyPolicy\n"
        "def first(observation, action_mask):\n    return action_mask.argmax(axis=1)\n"
        "class Mine(GreedyPolicy):\n    name = 'mine'\n"
        "class Needy:\n    def __init__(self, more): pass\n"
        "number = 7\nmade = Mine()\n"
    )
    monkeypatch.chdir(tmp_path)
    expected = play_pair(BERGEN, BERGEN.opponents[0], open_entrant(first_legal, BERGEN), 20)
    for spec in ("entrants_of_mine:first", "entrants_of_mine.py:first", f"{tmp_path}/entrants_of_mine.py:first"):
        entrant = open_entrant(spec, BERGEN)
        assert (entrant.name, entrant.kind) == (spec, "python")
        assert entrant.digest == protocol.file_digest(tmp_path / "entrants_of_mine.py")
        assert play_pair(BERGEN, BERGEN.opponents[0], entrant, 20).points_by_deal == expected.points_by_deal
    for spec in ("entrants_of_mine:Mine", "entrants_of_mine.py:made", GreedyPolicy()):
        assert play_pair(BERGEN, BERGEN.opponents[0], open_entrant(spec, BERGEN), 20).points.mean == 0
    for spec, message in (
        ("entrants_of_mine:second", "has no second"),
        ("entrants_of_mine:number", "is 7, but it is a function"),
        ("entrants_of_mine:Needy", r"^policy 'entrants_of_mine:Needy': raised TypeError"),
        ("no_such_module:act", "cannot be imported .ModuleNotFoundError"),
        ("no_such_file.py:act", "there is no file"),
    ):
        with pytest.raises(PolicyError, match=message):
            open_entrant(spec, BERGEN)


@pytest.mark.parametrize("error", ["ValueError", "SystemExit", "GeneratorExit"])
@pytest.mark.parametrize("where", ["__init__", "act", "reset", "check", "name"])
def test_what_code_of_the_user_s_raises_is_told_with_its_name(where: str, error: str) -> None:
    def fails(*_: Any) -> Any:
        raise {"ValueError": ValueError, "SystemExit": SystemExit, "GeneratorExit": GeneratorExit}[error]("no")

    kind = type("Mine", (GreedyPolicy,), {where: property(fails) if where == "name" else fails})
    with pytest.raises(PolicyError, match=rf"(Mine|greedy).*: raised {error} \(no\)"):
        run(kind, variants="bergen/2", size="quick")


@pytest.mark.parametrize("name", [5, "", " ", "\ud800", "a\nb"])
def test_a_name_that_cannot_be_printed_is_not_taken(name: Any, tmp_path: Path, small: None) -> None:
    kind = type("Mine", (GreedyPolicy,), {"name": name})
    run(kind, variants="bergen/2", out=tmp_path / "result.json")
    assert check_result(tmp_path / "result.json").policy.endswith("Mine")
    with pytest.raises(OptionsError, match="name="):
        run(kind, variants="bergen/2", name=name)


@pytest.mark.parametrize("what", ["rows", "seats"])
def test_a_policy_cannot_write_where_the_games_are(what: str) -> None:
    class Mine(GreedyPolicy):
        def act(self, batch: Batch) -> Any:
            assert len(batch.seen) == len(batch)
            getattr(batch, what)[:] = 10**12
            return super().act(batch)

    with pytest.raises(PolicyError, match=r"raised ValueError .assignment destination is read-only"):
        run(Mine(), variants=["bergen/2", "block/4-sides"], size="quick")


def test_an_illegal_move_of_a_function_forfeits_that_round_alone() -> None:
    expected = play_pair(BERGEN, BERGEN.opponents[0], open_entrant(first_legal, BERGEN), 40)

    def careless(observation: Any, action_mask: Any) -> Any:
        actions = action_mask.argmax(axis=1)
        action_mask[:] = 1  # does not make them legal
        if not asked:
            actions[:3] = [-1, 10**9, action_mask.shape[1]]
        asked.append(len(actions))
        return actions

    asked: list[int] = []
    found = play_pair(BERGEN, BERGEN.opponents[0], open_entrant(careless, BERGEN), 40)
    assert found.forfeits == {"illegal": 3}
    different = [mine for mine, theirs in zip(found.points_by_deal, expected.points_by_deal, strict=True) if mine != theirs]
    assert 2 <= len(different) <= 3
    assert all(points < -BERGEN.forfeit / 2 + 6 for points in different)


@pytest.mark.parametrize("name", ["bergen/2", "fives_and_threes/3", "block/4-sides"])
def test_who_forfeits_every_round_has_ten_spreads_less_in_each(name: str) -> None:
    setting = SETTINGS[name]
    entrant = open_entrant(lambda observation, mask: np.full(len(mask), -1), setting)
    found = play_pair(setting, setting.opponents[0], entrant, 5)
    played = [points for points in found.points_by_deal if points == -setting.forfeit]
    # a round in which it had nothing to decide is not forfeited
    assert len(played) >= 3
    assert found.score.mean <= -600
    assert 0 < found.forfeited <= found.rounds


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda observation, mask: mask.argmax(axis=1)[1:], r"answer of shape"),
        (lambda observation, mask: mask.argmax(axis=1) * 1.0, "dtype float64"),
        (lambda observation, mask: None, "dtype object"),
        (lambda observation, mask: observation.nothing, "raised AttributeError"),
    ],
)
def test_what_is_no_answer_of_one_round_stops_the_run(answer: Any, message: str, small: None) -> None:
    with pytest.raises(PolicyError, match=message):
        run(answer, variants=["bergen/2"])


def test_settings_that_a_policy_is_not_made_for_are_left_out(small: None) -> None:
    left: dict[str, str] = {}
    result = run("{variant}/ppo", variants=["bergen", "block"], left_out=left.__setitem__)
    assert list(result.settings) == ["bergen/2", "block/2"]
    assert list(left) == ["bergen/4", "block/4-sides"]
    assert "made for 2 players, but this game has 4" in left["bergen/4"]
    assert result.policy == "{variant}/ppo"
    assert list(run("{variant}/ppo_{players}players", variants=["bergen", "block"]).settings) == ["bergen/4"]
    for spec, variants, message in (
        ("bergen/ppo", ["draw"], "made for bergen"),
        ("nobody", None, "policy 'nobody', but known are"),
        ("mine.py", None, "policy 'mine.py': name a function or class in it too, such as 'mine.py:act'"),
        ("{variant}/nobody", None, "policy 'fives_and_threes/nobody'"),
        ("random", ["poker"], "variant 'poker', but the benchmark has"),
    ):
        left.clear()
        with pytest.raises(DominoError, match=message):
            run(spec, variants=variants, left_out=left.__setitem__)
        assert left == {}  # what plays nowhere is told once


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": "huge"}, "size='huge', but the sizes are quick, full"),
        ({"name": ""}, "name='', but it is a printable text"),
        ({"name": 3}, "name=3, but it is a printable text"),
        ({"variants": "poker"}, "variant 'poker', but the benchmark has"),
        ({"out": "no/such/folder/result.json"}, "file 'no/such/folder/result.json': there is no folder"),
        ({"out": "."}, "file '.' is a folder"),
    ],
)
def test_bad_arguments_are_told_before_anything_is_played(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionsError, match=message):
        run(lambda _observation, _mask: pytest.fail("it was asked"), **arguments)


@pytest.mark.parametrize("limits", [{"start_seconds": 0}, {"decision_seconds": -1}, {"decision_seconds": float("nan")}, {"failures": 0}])
def test_limits_that_nobody_can_keep_are_refused(limits: dict[str, Any]) -> None:
    name, value = next(iter(limits.items()))
    with pytest.raises(OptionsError, match=f"{name}={value!r}, but it is"):
        Limits(**limits)


def test_one_name_is_enough(small: None) -> None:
    assert list(run("random", variants="bergen").settings) == ["bergen/2", "bergen/4"]


# ---------------------------------------------------------------------------------------------------------------- ONNX


@pytest.mark.parametrize(("spec", "name"), [("bergen/ppo", "bergen/2"), ("draw/dqn", "draw/2"), ("all_fives/ppo_4players", "all_fives/4")])
def test_an_exported_checkpoint_plays_the_same_moves(spec: str, name: str, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    setting, path = SETTINGS[name], export_onnx(spec, tmp_path / "network.onnx")
    assert export_onnx(spec, tmp_path / "again.onnx").read_bytes() == path.read_bytes()
    batch = positions(setting.rules, setting.num_players, 1500).batch()
    assert (OnnxPolicy(path).act(batch) == load_policy(spec).act(batch)).all()
    mine, theirs = (play_pair(setting, setting.opponents[0], open_entrant(one, setting), 30) for one in (path, spec))
    assert mine.points_by_deal == theirs.points_by_deal
    with pytest.raises(CheckpointError):
        open_entrant(path, SETTINGS["threes/2"])


def test_the_command_exports_a_checkpoint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    from domino_env.commands.common import run_app
    from training.__main__ import app

    assert run_app(app, "training", ["export-onnx", "bergen/ppo", str(tmp_path / "a.onnx")]) == 0
    assert capsys.readouterr().out == f"network {tmp_path / 'a.onnx'}\n"
    assert (tmp_path / "a.onnx").read_bytes() == export_onnx("bergen/ppo", tmp_path / "b.onnx").read_bytes()
    for checkpoint, name, message in (("bergen/ppo", "a.txt", "ends in .onnx"), ("greedy", "c.onnx", "is no checkpoint")):
        assert run_app(app, "training", ["export-onnx", checkpoint, str(tmp_path / name)]) == 2
        assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.onnx", "b.onnx"]


@pytest.mark.parametrize("fields", [{"residual": True, "layers": [20, 20, 20]}, {"activation": "tanh", "value_layers": [8]}])
def test_every_kind_of_network_is_exported(fields: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    checkpoint = random_checkpoint(tmp_path / "a.safetensors", **fields)
    batch = positions("bergen", 2, 500).batch()
    onnx = OnnxPolicy(export_onnx(checkpoint, tmp_path / "a.onnx"))
    learned: Any = load_policy(checkpoint)
    assert onnx._run(batch.observation, batch.action_mask) == pytest.approx(learned.logits(batch.observation), abs=1e-4)


def network(path: Path, inputs: dict[str, Any], logits: tuple[Any, Any], source: str, *kinds: str, number: int = 1) -> Path:
    """An ONNX file: the nodes ``kinds`` one after another, on the input ``source``. ``number``: that of the type of its output."""
    from onnx import helper

    values = [helper.make_tensor_value_info(name, *told) for name, told in inputs.items()]
    names = [source, *(f"step{step}" for step in range(len(kinds) - 1)), "out"]
    nodes = [helper.make_node(kind, [names[step]], [names[step + 1]]) for step, kind in enumerate(kinds)]
    graph = helper.make_graph(nodes, "small", values, [helper.make_tensor_value_info("out", number, logits)])
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString())
    return path


def with_weights_beside(path: Path, size: int, actions: int) -> Path:
    """An ONNX file that looks for its weights in another one, which is there."""
    import onnx
    from onnx import helper, numpy_helper

    weights = numpy_helper.from_array(np.ones((size, actions), np.float32), "weights")
    values = [helper.make_tensor_value_info(*told) for told in (("observation", 1, ["N", size]), ("logits", 1, ["N", actions]))]
    graph = helper.make_graph([helper.make_node("MatMul", ["observation", "weights"], ["logits"])], "g", values[:1], values[1:], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, path, save_as_external_data=True, location=f"{path.name}.data", size_threshold=0)
    assert path.with_name(f"{path.name}.data").exists()
    return path


def test_networks_of_other_hands_get_masks_and_batches_as_they_want_them(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    batch = positions("bergen", 2, 100).batch()
    (_, size), (_, actions) = batch.observation.shape, batch.action_mask.shape
    for rows in ("N", 7, 1000):
        both = {"observation": (1, [rows, size]), "action_mask": (1, [rows, actions])}
        policy = OnnxPolicy(network(tmp_path / "mask.onnx", both, (rows, actions), "action_mask", "Neg"))
        policy.check(VARIANTS["bergen"], 2)
        assert (policy.act(batch) == batch.action_mask.argmax(axis=1)).all()
    both = {"observation": (1, ["N", size]), "action_mask": (1, ["N", actions])}
    # minus infinity, or no number at all, at illegal actions alone
    for kind in ("Log", "Acosh"):
        path = network(tmp_path / "odd.onnx", both, ("N", actions), "action_mask", kind)
        assert (OnnxPolicy(path).act(batch) == batch.action_mask.argmax(axis=1)).all()
    # no number at the legal ones
    path = network(tmp_path / "odd.onnx", both, ("N", actions), "action_mask", "Neg", "Log")
    assert (OnnxPolicy(path).act(batch) == -1).all()
    assert play_pair(BERGEN, BERGEN.opponents[0], open_entrant(path, BERGEN), 5).forfeits["illegal"] > 5
    for inputs, width, source, number, message in (
        ({"x": (1, ["N", size])}, size, "x", 1, r"inputs \['x'\]"),
        ({"observation": (11, ["N", size])}, size, "observation", 11, "is of type double"),
        ({"observation": (1, ["N", 7])}, 7, "observation", 1, r"observation is of shape \['N', 7\], but bergen has"),
        ({"observation": (1, ["N", size])}, size, "observation", 1, rf"out is of shape \['N', {size}\]"),
    ):
        path = network(tmp_path / "other.onnx", inputs, ("N", width), source, "Neg", number=number)
        with pytest.raises(CheckpointError, match=message):
            open_entrant(path, BERGEN)
    (tmp_path / "rubbish.onnx").write_bytes(b"rubbish")
    for path, message in ((tmp_path / "rubbish.onnx", "no ONNX file"), (tmp_path / "none.onnx", "cannot be read")):
        with pytest.raises(CheckpointError, match=message):
            open_entrant(path, BERGEN)
    with pytest.raises(CheckpointError, match=r"beside.onnx: its weights lie in a file of their own.*external_data=False"):
        open_entrant(with_weights_beside(tmp_path / "beside.onnx", size, actions), BERGEN)
    for spec, target in (("greedy", "a.onnx"), ("bergen/ppo", "a.txt")):
        with pytest.raises(CheckpointError, match=r"is no checkpoint|ends in .onnx"):
            export_onnx(spec, tmp_path / target)


# --------------------------------------------------------------------------------------------------------- the command


@pytest.mark.parametrize(
    ("name", "shown"),
    [("[red]mine[/]", "[red]mine[/]"), ("[/]", "[/]"), ("a\x1b[2Jb", "'a\\x1b[2Jb'"), ("\ud800", "'\\ud800'"), ("a\nb", "'a\\nb'")],
)
def test_a_name_is_shown_as_the_text_it_is(domino: Run, small: None, tmp_path: Path, name: str, shown: str) -> None:
    """Whoever hands a file in chose it: it is no markup, no control sequence, and no letter that cannot be printed."""
    run("greedy", variants=["bergen/2"], out=tmp_path / "result.json")
    told = json.loads((tmp_path / "result.json").read_text())
    told["policy"]["name"] = name
    (tmp_path / "result.json").write_text(json.dumps(told))
    assert f" {shown}: protocol 1" in domino("bench-policy", "--check", str(tmp_path / "result.json")).out


def test_the_command_writes_prints_and_checks_a_result(domino: Run, small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = domino("bench-policy", "bergen/ppo", "--variant", "bergen", "--json")
    assert done.status == 0
    assert done.err.splitlines()[0].startswith("left out bergen/4: ")
    assert done.err.splitlines()[-1] == "result bench-bergen_ppo-full.json"
    assert json.loads(done.out) == json.loads((tmp_path / "bench-bergen_ppo-full.json").read_text())
    again = domino("bench-policy", "bergen/ppo", "--variant", "bergen", "--json")
    assert (again.out, again.err.splitlines()[-1]) == (done.out, "result bench-bergen_ppo-full.json: it held all of it, nothing was played")
    table = domino("bench-policy", "--check", "bench-bergen_ppo-full.json").out
    for text in ("bergen/ppo: protocol 1, size full", "search:pimc?worlds=64", "not all settings played", "+0.00 [+0.00, +0.00]"):
        assert text in table
    assert [path.name for path in tmp_path.iterdir()] == ["bench-bergen_ppo-full.json"]
    for arguments, message in (
        ([], "Give a POLICY to measure, or --check"),
        (["greedy", "--check", "a.json"], "Give a POLICY to measure, or --check"),
        (["greedy", "--size", "huge"], "size='huge'"),
        (["greedy", "--out", "a.txt"], "ends in .json"),
        (["greedy", "--variant", "poker"], "variant 'poker'"),
        (["nobody"], "policy 'nobody'"),
        (["--check", "none.json"], "cannot be read"),
        (["greedy", "--out", "bench-bergen_ppo-full.json"], "it holds a result of policy 'bergen/ppo'"),
    ):
        refused = domino("bench-policy", *arguments)
        assert (refused.status, refused.out) == (2, ""), arguments
        assert message in refused.err


# ---------------------------------------------------------------------------------------------------------- references


@pytest.mark.parametrize("name", REFERENCES)
def test_the_references_are_of_this_protocol_and_can_be_played_again(name: str) -> None:
    assert REFERENCE["protocol"] == PROTOCOL_VERSION
    told = REFERENCE["results"][name]
    assert (told["policy"]["name"], told["policy"]["spec"], told["size"]) == (name, REFERENCES[name], "full")
    tracks = {"random": 14, "greedy": 14, "search64": 14, "dqn": 9, "ppo": 9, "ppo_more_seats": 4}
    assert len(told["settings"]) == tracks[name]
    for found in told["settings"]:
        setting = SETTINGS[found["setting"]]
        assert (found["seed"], found["spread"], found["deals"]) == (setting.seed, setting.spread, setting.deals("full"))
        assert [pair["opponent_digest"] for pair in found["pairs"]] == [opponent.digest for opponent in setting.opponents]
        for opponent, pair in zip(setting.opponents, found["pairs"], strict=True):
            slow = setting.num_players > 2 or "search" in (name + opponent.spec)
            deals = 2 if slow else FIRST_DEALS
            again = play_pair(setting, opponent, open_entrant(REFERENCES[name], setting), deals)
            assert list(again.points_by_deal) == pair["first_deals"][:deals], (found["setting"], opponent.spec)
