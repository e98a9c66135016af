"""The site of the docs: it is built without a warning, from every page, and asks nothing of any other server."""

from __future__ import annotations

import json
import os
import posixpath
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import domino_env
from docs.make_tables import ROOT
from docs.site_hooks import ELSEWHERE, relink
from domino_env.variants import VARIANTS

pytest.importorskip("material", reason="the extra docs is not installed")
pytest.importorskip("mkdocstrings", reason="the extra docs is not installed")

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src", "video": "src", "object": "data", "embed": "src"}
"""What a page loads by itself, and the attribute that says from where."""
_LINKS_ONLY = ("canonical", "prev", "next", "alternate")


class Page(HTMLParser):
    """The ids, links, loaded files and text of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.text = text
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        self.ids |= {told[name] for name in ("id", "name") if name in told}
        if tag == "a" and "href" in told:
            self.links.append(told["href"])
        if tag in LOADED and LOADED[tag] in told and told.get("rel") not in _LINKS_ONLY:
            self.loads.append(told[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` builds it, in a process that no proxy leads out of."""
    place = tmp_path_factory.mktemp("site")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(place)]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return place


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, Page]:
    """Place on the site -> page."""
    return {path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}


def address(page: str) -> str:
    """Where a page of docs/ stands on the site."""
    return re.sub(r"(^|/)README\.html$", r"\1index.html", page.removesuffix(".md") + ".html")


def test_every_page_is_there_and_nothing_else_is(site: Path, pages: dict[str, Page]) -> None:
    told = {address(path.relative_to(ROOT / "docs").as_posix()) for path in (ROOT / "docs").rglob("*.md")}
    assert set(pages) - {"404.html"} == told | {address(page) for page, _ in ELSEWHERE.values()}
    assert not [path for path in site.rglob("*") if path.suffix in (".py", ".md", ".pyc", ".yml")]
    assert [path.name for path in site.rglob("*.json")] == ["search_index.json"]


def test_pages_load_nothing_from_elsewhere(pages: dict[str, Page]) -> None:
    assert sum(len(page.loads) for page in pages.values()) > 100
    assert {
        load for page in pages.values() for load in page.loads if urlsplit(load).scheme not in ("", "data") or load.startswith("//")
    } == set()


def test_styles_load_nothing_from_elsewhere(site: Path, pages: dict[str, Page]) -> None:
    texts = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    texts += [style for page in pages.values() for style in re.findall(r"<style[^>]*>(.*?)</style>", page.text, re.DOTALL)]
    assert len(texts) > 3
    for text in texts:
        assert re.findall(r"@import[^;]*", text) == []
        assert [url for url in re.findall(r"url\(\s*['\"]?([^'\")]+)", text) if re.match(r"(https?:)?//", url)] == []


def test_what_would_make_the_theme_ask_a_server_is_off(site: Path, pages: dict[str, Page]) -> None:
    """Its script knows addresses: of GitHub for a repository, of a server for diagrams. Neither is on any page."""
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert not re.search(r"^(repo_url|repo_name):|analytics|offline", config, re.MULTILINE)
    assert re.search(r"^  font: false", config, re.MULTILINE)
    assert [name for name, page in pages.items() if 'class="mermaid"' in page.text or 'data-md-component="source"' in page.text] == []


def test_links_and_anchors_lead_somewhere(site: Path, pages: dict[str, Page]) -> None:
    lost, followed = [], 0
    for name, page in pages.items():
        for target in [*page.links, *page.loads]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or name == "404.html":
                continue
            found = posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(parts.path))) if parts.path else name
            followed += 1
            if found in (".", "..") or (site / found).is_dir():
                found = posixpath.join(found, "index.html") if found != "." else "index.html"
            anchor = unquote(parts.fragment)
            if not (site / found).is_file() or (anchor and found in pages and anchor not in pages[found].ids | {"__codelineno"}):
                lost.append((name, target))
    assert followed > 1000
    assert lost == []


def test_no_markdown_is_left_over(pages: dict[str, Page]) -> None:
    for name, page in pages.items():
        text = re.sub(r"<(pre|code)\b.*?</\1>|<script\b.*?</script>|<!--.*?-->", "", page.text, flags=re.DOTALL)
        assert not re.search(r"^\s*(\| ---|:::|```)|\]\([^)]*\.md", text, re.MULTILINE), name


def test_the_start_page_has_the_picture_and_every_game(pages: dict[str, Page]) -> None:
    start = pages["index.html"]
    assert "images/bergen.gif" in start.loads
    for variant in (*VARIANTS, "shopping"):
        assert f"variants/{variant}.html" in start.links


def test_the_api_holds_every_public_name(pages: dict[str, Page]) -> None:
    ids = {one for name, page in pages.items() if name.startswith("api/") for one in page.ids}
    homes = {name: getattr(getattr(domino_env, name), "__module__", "domino_env.variants") for name in domino_env.__all__}
    for name, home in homes.items():
        # what a package gives away is told on the page of the package
        packages = [".".join(home.split(".")[:length]) for length in (3, 2)]
        assert any(f"{place}.{name}" in ids for place in (home, *packages)), name
    for module in ("policies", "arena", "notation", "pages"):
        package = __import__(f"domino_env.{module}", fromlist=["__all__"])
        public = [name for name in package.__all__ if callable(getattr(package, name))]
        assert [name for name in public if f"domino_env.{module}.{name}" not in ids] == []
    assert not [one for one in ids if re.search(r"^(domino_env|training)\..*\._[a-z]", one)]


def test_the_search_finds_pages_and_names(site: Path) -> None:
    found = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"] for entry in found["docs"]}
    assert {"variants/bergen.html#rules", "api/arena.html#domino_env.arena.compare"} <= places


# Links between what stands in docs/ and what does not


@pytest.mark.parametrize(
    ("page", "link", "turned"),
    [
        ("versions.md", "[log](../CHANGELOG.md)", "[log](changelog.md)"),
        ("changelog.md", "[versions](docs/versions.md)", "[versions](versions.md)"),
        ("checkpoints.md", "[training](../docs/training.md#how-fast)", "[training](training.md#how-fast)"),
        ("api/index.md", "[log](../../CHANGELOG.md)", "[log](../changelog.md)"),
        ("examples/README.md", "[`ppo.py`](ppo.py)", "[`ppo.py`](ppo.md)"),
        ("variants/bergen.md", "[x](../RULES.md)", "[x](../RULES.md)"),
        ("index.md", "![a](images/bergen.gif)", "![a](images/bergen.gif)"),
        ("index.md", "the [Makefile](../Makefile) says", "the Makefile says"),
        ("index.md", "[a](https://x.y/z.md) [b](#here)", "[a](https://x.y/z.md) [b](#here)"),
        ("index.md", "[a](no/such.md)", "[a](no/such.md)"),
        (
            "index.md",
            "```md\n[log](../CHANGELOG.md)\n```\n[log](../CHANGELOG.md)",
            "```md\n[log](../CHANGELOG.md)\n```\n[log](changelog.md)",
        ),
    ],
)
def test_links_are_turned_to_where_the_site_has_their_targets(page: str, link: str, turned: str) -> None:
    published = {"changelog.md", "checkpoints.md", "examples/ppo.md", "versions.md", "training.md", "RULES.md", "images/bergen.gif"}
    assert relink(link, page, published) == turned
