"""Reading a result file, and checking one that was handed in."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from domino_env.benchmark.entrants import FAULTS, KINDS
from domino_env.benchmark.protocol import LIMITS, PROTOCOL_VERSION, SETTINGS, SIZES, Setting
from domino_env.benchmark.result import RESULT_FORMAT, PairFound, Result, ResultError, SettingFound, versions

__all__ = ["check_result", "read_result"]

_MEANS_AGREE = 1e-6
_ENDS_AGREE = 0.1
"""Of half an interval: another version of numpy may draw other deals anew."""


def read_result(path: str | os.PathLike[str]) -> Result:
    """The result that a file holds, whole or in part. Raises ``ResultError`` where it is damaged, of another format or protocol, or
    where its numbers do not follow from the results of its deals."""
    source = os.fspath(path)
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"), parse_constant=_no_number)
    except OSError as error:
        raise ResultError(f"{source}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise ResultError(f"{source}: no result file ({error})") from None
    return _Reader(source).result(value)


def check_result(path: str | os.PathLike[str]) -> Result:
    """The result of a file that is handed in. Raises ``ResultError`` as ``read_result``, and where it is not of size ``full``, was
    played under other limits, or holds a setting in part."""
    result, source = read_result(path), os.fspath(path)
    if result.size != "full":
        raise ResultError(f"{source}: size {result.size!r}, but only 'full' is a result to hand in")
    if result.limits != asdict(LIMITS):
        raise ResultError(f"{source}: played under limits {result.limits}, but protocol {PROTOCOL_VERSION} has {asdict(LIMITS)}")
    if not result.settings:
        raise ResultError(f"{source}: it holds no setting")
    for name, found in result.settings.items():
        if not found.whole:
            met = ", ".join(pair.opponent.spec for pair in found.pairs) or "nobody"
            raise ResultError(f"{source}: {name} is not finished: the policy met {met}; run the same command again to go on")
    return result


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no number")


class _Reader:
    """Reads JSON values, and says where they are not what they should be."""

    def __init__(self, source: str) -> None:
        self._source = source

    def _fail(self, where: str, why: str) -> ResultError:
        return ResultError(f"{self._source}: {where}: {why}")

    def _fields(self, where: str, value: Any, looks: Mapping[str, Callable[[Any], bool]]) -> dict[str, Any]:
        """The value as an object that has just these fields, each of which looks as it should."""
        if not isinstance(value, dict) or set(value) != set(looks):
            got = f"fields {sorted(value)}" if isinstance(value, dict) else repr(value)[:60]
            raise self._fail(where, f"{got}, but it has the fields {sorted(looks)}")
        for name, look in looks.items():
            if not look(value[name]):
                raise self._fail(where, f"{name} cannot be {repr(value[name])[:60]}")
        return value

    def result(self, value: Any) -> Result:
        """The whole file."""
        if not isinstance(value, dict) or value.get("benchmark") != "domino_env":
            raise ResultError(f"{self._source}: no result file of this benchmark")
        for name, mine in (("format", RESULT_FORMAT), ("protocol", PROTOCOL_VERSION)):
            if value.get(name) != mine:
                raise ResultError(f"{self._source}: {name} {value.get(name)!r}, but this version of domino_env has {name} {mine}")
        told = self._fields("result", value, _RESULT)
        policy = self._fields("policy", told["policy"], _POLICY)
        self._fields("machine", told["machine"], _MACHINE)
        result = Result(policy["name"], policy["spec"], policy["kind"], told["size"], told["limits"], told["versions"], told["machine"])
        if set(result.versions) != set(versions(result.kind)):
            raise self._fail("versions", f"of {sorted(result.versions)}, but they are of {sorted(versions(result.kind))}")
        for item in told["settings"]:
            found = self._setting(item, result)
            if found.setting.name in result.settings:
                raise self._fail(found.setting.name, "it is there twice")
            result.settings[found.setting.name] = found
        scores = self._fields("scores", told["scores"], dict.fromkeys(result.scores, _is_anything))
        for track, score in result.scores.items():
            self._agrees(f"score of track {track}", scores[track], None if score is None else asdict(score))
        return result

    def _setting(self, value: Any, result: Result) -> SettingFound:
        told = self._fields("setting", value, _SETTING)
        name = told["setting"]
        if name not in SETTINGS:
            raise self._fail("setting", f"{name!r} is none of protocol {PROTOCOL_VERSION}")
        setting = SETTINGS[name]
        fixed = {
            "rules_fingerprint": setting.fingerprint,
            "spread": setting.spread,
            "seed": setting.seed,
            "deals": setting.deals(result.size),
        }
        for field, mine in fixed.items():
            if told[field] != mine:
                raise self._fail(name, f"{field} {told[field]!r}, but protocol {PROTOCOL_VERSION} has {mine!r}")
        if len(told["pairs"]) > len(setting.opponents):
            raise self._fail(name, f"{len(told['pairs'])} opponents, but there are {len(setting.opponents)}")
        if KINDS[result.kind] not in (None, told["policy_digest"] is not None):
            raise self._fail(name, f"policy_digest {told['policy_digest']} cannot be that of a policy of kind {result.kind!r}")
        found = SettingFound(setting, told["deals"], told["policy_digest"])
        for number, item in enumerate(told["pairs"]):
            found.pairs.append(self._pair(item, setting, number, told["deals"]))
        self._agrees(f"{name}: score", told["score"], None if found.score is None else asdict(found.score))
        return found

    def _pair(self, value: Any, setting: Setting, number: int, deals: int) -> PairFound:
        opponent = setting.opponents[number]
        where = f"{setting.name} against {opponent.spec}"
        told = self._fields(where, value, _PAIR)
        if (told["opponent"], told["opponent_digest"]) != (opponent.spec, opponent.digest):
            got = f"opponent {told['opponent']!r} with digest {told['opponent_digest']}"
            raise self._fail(where, f"{got}, but protocol {PROTOCOL_VERSION} has {opponent.spec!r} with digest {opponent.digest}")
        points, won = told["points_by_deal"], told["won_by_deal"]
        if (len(points), len(won)) != (deals, deals):
            raise self._fail(where, f"{len(points)} and {len(won)} numbers by deal, but there are {deals} deals")
        if max(map(abs, points)) > setting.forfeit + _MEANS_AGREE or not all(0 <= share <= 1 for share in won):
            raise self._fail(where, f"points beyond {setting.forfeit:g}, or a share of wins beyond 0 to 1")
        time = self._fields(where, told["time"], {"decisions": _is_count, "seconds": _is_size, "microseconds": _is_size})
        # points were rounded when they were written, so they are taken as they stand
        found = PairFound(
            setting, opponent, tuple(map(float, points)), tuple(map(float, won)), told["forfeits"], time["decisions"], time["seconds"]
        )
        if told["rounds"] != found.rounds or found.forfeited > found.rounds:
            raise self._fail(where, f"{told['rounds']} rounds of which {found.forfeited} are forfeited, but {found.rounds} were played")
        most = setting.forfeit * (1 - 2 * found.forfeited / found.rounds)
        if found.points.mean > most + _MEANS_AGREE:
            raise self._fail(where, f"{found.points.mean} points a round, but with {found.forfeited} forfeited it is {most:g} at most")
        if time != found.time:
            raise self._fail(where, f"time {time}, but its decisions and seconds make it {found.time}")
        for name in ("points", "won", "score"):
            self._agrees(f"{where}: {name}", told[name], asdict(getattr(found, name)))
        return found

    def _agrees(self, where: str, told: Any, mine: dict[str, float] | None) -> None:
        """Whether an estimate is the one that follows from the deals."""
        if told is None or mine is None:
            if told is not mine:
                raise self._fail(where, f"{told}, but the deals make it {mine}")
            return
        self._fields(where, told, dict.fromkeys(("mean", "low", "high"), _is_number))
        half = (mine["high"] - mine["low"]) / 2
        for end, value in mine.items():
            allowed = _MEANS_AGREE if end == "mean" else _MEANS_AGREE + _ENDS_AGREE * half
            if abs(told[end] - value) > allowed:
                raise self._fail(where, f"{end} {told[end]}, but the deals make it {value}")


_HUGE = 1e300
"""JSON may hold whole numbers that no float holds."""


def _is_anything(_: Any) -> bool:
    return True


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _HUGE  # false for NaN


def _is_size(value: Any) -> bool:
    return _is_number(value) and value >= 0


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and all(map(_is_number, value))


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_digest(value: Any) -> bool:
    return value is None or (isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None)


_RESULT: dict[str, Callable[[Any], bool]] = {
    "benchmark": _is_text,
    "format": _is_count,
    "protocol": _is_count,
    "size": lambda value: _is_text(value) and value in SIZES,
    "policy": _is_object,
    "limits": lambda value: _is_object(value) and all(map(_is_number, value.values())),
    "versions": lambda value: _is_object(value) and all(map(_is_text, value.values())),
    "machine": _is_object,
    "scores": _is_object,
    "settings": _is_list,
}
_POLICY: dict[str, Callable[[Any], bool]] = {
    "name": _is_text,
    "spec": _is_text,
    "kind": lambda value: _is_text(value) and value in KINDS,
}
_MACHINE: dict[str, Callable[[Any], bool]] = {
    "system": _is_text,
    "processor": _is_text,
    "cores": lambda value: value is None or _is_count(value),
    "python": _is_text,
}
_SETTING: dict[str, Callable[[Any], bool]] = {
    "setting": _is_text,
    "rules_fingerprint": _is_text,
    "spread": _is_number,
    "seed": _is_count,
    "deals": _is_count,
    "policy_digest": _is_digest,
    "score": _is_anything,
    "pairs": _is_list,
}
_PAIR: dict[str, Callable[[Any], bool]] = {
    "opponent": _is_text,
    "opponent_digest": _is_digest,
    "rounds": _is_count,
    "points": _is_object,
    "won": _is_object,
    "score": _is_object,
    "forfeits": lambda value: _is_object(value) and set(value) <= set(FAULTS) and all(map(_is_count, value.values())),
    "points_by_deal": _is_numbers,
    "won_by_deal": _is_numbers,
    "time": _is_object,
}
