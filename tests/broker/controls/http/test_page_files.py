"""The files of the page: all of them are served, with a strict policy, and they refer to nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

import pytest

from odradek import Cluster
from odradek.broker.controls.http.page_files import FILES, page_resources

FOLDER = Path(__file__).parents[4] / "broker/controls/http/page"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with Cluster(nodes=1, control="127.0.0.1:0", control_token="s3cret") as cluster:
        assert cluster.control is not None
        yield cluster.control


def fetched(address: str, path: str) -> tuple[HTTPResponse, bytes]:
    with closing(HTTPConnection(address, timeout=30)) as connection:
        connection.request("GET", path)
        response = connection.getresponse()
        return response, response.read()


def test_files_of_the_folder_are_all_listed() -> None:
    assert sorted(FILES) == sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", page_resources())
def test_file_is_served_without_a_token(address: str, path: str) -> None:
    response, body = fetched(address, path)
    name = "index.html" if path == "/" else path.removeprefix("/page/")
    assert (response.status, body) == (200, (FOLDER / name).read_bytes())
    expected = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}[name.rpartition(".")[2]]
    assert response.getheader("Content-Type") == f"{expected}; charset=utf-8"
    assert response.getheader("X-Content-Type-Options") == "nosniff"
    assert response.getheader("Referrer-Policy") == "no-referrer"


def test_policy_allows_only_files_of_the_listener(address: str) -> None:
    policy = fetched(address, "/")[0].getheader("Content-Security-Policy") or ""
    directives = {name: sources for name, _, sources in (each.partition(" ") for each in policy.split("; "))}
    assert directives["default-src"] == "'none'"
    assert {sources for name, sources in directives.items() if name.endswith("-src")} == {"'none'", "'self'"}
    assert directives["frame-ancestors"] == directives["base-uri"] == directives["form-action"] == "'none'"
    assert directives["require-trusted-types-for"] == "'script'"


@pytest.mark.parametrize("name", FILES)
def test_file_contains_neither_urls_nor_markup_from_text(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|//[\w-]+\.|\bwss?:", text)
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|localStorage|document\.cookie", text
    )
    assert not re.search(r"<style|<script(?! type=\"module\" src=)|\son\w+=\"|\sstyle=\"|javascript:", text)


@pytest.mark.parametrize("path", ["/page/", "/page/../responses.py", "/page/%2e%2e/responses.py", "/page/style.css/", "/PAGE/style.css"])
def test_other_path_is_not_found(address: str, path: str) -> None:
    assert fetched(address, path)[0].status == 401
