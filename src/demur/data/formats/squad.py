"""SQuAD 1.1 and 2.0 JSON: a question and the paragraph that holds its answer, or holds none.

One pool per question. Its single candidate is the paragraph, called ``<title>-<paragraph>`` (paragraphs of
an article are numbered from 0), labelled 1 if the question can be answered from it, 0 if ``is_impossible``
says not, and nothing if the file says neither. In the pool's ``extra``: ``title``, ``paragraph``, and
everything the file says of the question, such as ``answers`` with ``text`` and ``answer_start``. Other keys
of articles and paragraphs are not kept. Reading holds the whole file, as JSON needs; writing holds one
pool.

Written files say the same as what was read. Where paragraphs were left out, the ones that stay have their
number in a key ``paragraph``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from demur.data.formats.shared.checks import Place, build_pool, unwritable
from demur.data.formats.shared.jsonlines import (
    Object,
    check_whole,
    checked_extra,
    encoded,
    id_of,
    kind,
    list_of,
    other_keys,
    text_of,
)
from demur.errors import DataError
from demur.files import replacing, whole
from demur.types import Candidate, Pool

_KEYS = frozenset({"id", "question"})
_OURS = frozenset({"title", "paragraph"})
_FIX = 'SQuAD is one object {"data": [...]}; if each line is an object, say it is jsonl'


def read_pools(path: str | Path) -> Iterator[Pool]:
    """The pools of a file, in its order."""
    text = whole(path)
    if not text.strip():
        return
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        what = f"broken JSON ({error.msg}, column {error.colno})"
        raise DataError(what, path=path, line=error.lineno, fix=_FIX) from None
    except (ValueError, RecursionError) as error:
        raise DataError(f"JSON that cannot be read ({error})", path=path, fix=_FIX) from None
    if type(value) is not dict or "data" not in value:
        raise DataError(f"{kind(value)} without 'data'", path=path, fix=_FIX)
    check_whole(text, value, Place(path))
    for a, article in enumerate(list_of(value, "data", Place(path), dict), 1):
        inside = f"article {a}"
        title = text_of(article, "title", Place(path, None, inside)) if "title" in article else ""
        for p, paragraph in enumerate(list_of(article, "paragraphs", Place(path, None, inside), dict)):
            place = Place(path, None, f"{inside}, paragraph {p + 1}")
            context, number = text_of(paragraph, "context", place), paragraph.get("paragraph", p)
            if type(number) is not int:
                raise place.error(f"'paragraph' is {kind(number)}, not a number", "remove it")
            for q, question in enumerate(list_of(paragraph, "qas", place, dict), 1):
                yield _pool(
                    question, title, number, context, place._replace(inside=f"{place.inside}, question {q}")
                )


def _pool(question: Object, title: str, number: int, context: str, place: Place) -> Pool:
    if "answers" in question:
        for answer in list_of(question, "answers", place, dict):
            text_of(answer, "text", place)
    paragraph = Candidate(_paragraph_id(title, number), context, _label(question))
    extra = {"title": title, "paragraph": number, **other_keys(question, _KEYS | _OURS, place)}
    return build_pool(
        id_of(question, "id", place), text_of(question, "question", place), [paragraph], place, extra
    )


def _paragraph_id(title: str, number: object) -> str:
    return f"{'_'.join(title.split())}-{number}"  # without spaces, so that TREC runs can name it


def _label(question: Object) -> int | None:
    if "is_impossible" in question:
        return 0 if question["is_impossible"] else 1
    return 1 if question.get("answers") else None


def write_pools(path: str | Path, pools: Iterable[Pool]) -> None:
    """Write pools as reading gives them: a question with one paragraph, its title and number."""
    with replacing(path) as file:
        last: tuple[object, object, str] | None = None
        count, version = 0, "1.1"
        file.write('{"data": [')
        for pool in pools:
            question = _question(pool, path)
            title, number, context = here = (
                *(pool.extra[key] for key in ("title", "paragraph")),
                pool.answers[0],
            )
            if here == last:
                file.write(", ")
            else:
                same_article = last is not None and title == last[0] and number > last[1]
                count = count + 1 if same_article else 0
                if last is not None:
                    file.write("]}, " if same_article else "]}]}, ")
                if not same_article:
                    file.write(f'{{"title": {encoded(title)}, "paragraphs": [')
                file.write(f'{{"context": {encoded(context)}, ')
                file.write(f'"paragraph": {number}, "qas": [' if number != count else '"qas": [')
            file.write("\n" + encoded(question))
            last = here
            version = "v2.0" if "is_impossible" in question else version
        file.write(f'{"]}]}" if last is not None else ""}], "version": "{version}"}}\n')


def _question(pool: Pool, path: str | Path) -> Object:
    rest = {key: value for key, value in pool.extra.items() if key not in _OURS}
    question = {"id": pool.id, "question": pool.question, **checked_extra(rest, _KEYS, pool, path)}
    title, number = pool.extra.get("title"), pool.extra.get("paragraph")
    if len(pool) == 1 and type(title) is str and type(number) is int:
        context = pool.candidates[0].text
        if _pool(question, title, number, context, Place(path)) == pool:
            return question
    fix = "write .jsonl, which holds any pool"
    raise unwritable(
        pool, "is not a SQuAD question: one paragraph with its title, number and label", path, fix
    )
