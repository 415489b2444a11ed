"""Asks `demur serve` with clients that know nothing of it; says what each did, and exits 1 if one failed.

`python -m tools.clients DEMUR CLIENT...` runs in a place of its own, which `make clients` and
`make clients-all` build, and starts the server of another one. What clients get is compared with
`demur rank`, and requests are counted, so that none asks again and again.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable

from tools.clients import frameworks, node, plain
from tools.clients.server import Running, served

CLIENTS: dict[str, Callable[[Running], str]] = {
    "huggingface_hub": plain.hugging_face,
    "cohere": plain.cohere,
    "litellm": plain.litellm,
    "langchain-cohere": frameworks.langchain_cohere,
    "llama-index-cohere": frameworks.llama_index_cohere,
    "llama-index-jinaai": frameworks.llama_index_jinaai,
    "llama-index-tei": frameworks.llama_index_tei,
    "haystack-tei": frameworks.haystack_tei,
    "haystack-cohere": frameworks.haystack_cohere,
    "haystack-jina": frameworks.haystack_jina,
    "npm-cohere-ai": node.cohere_ai,
}


def main() -> int:
    """The exit code: 1 if a client failed."""
    demur, *names = sys.argv[1:]
    failed = 0
    with served(demur) as server:
        for name in names:
            try:
                print(f"ok    {name}: {CLIENTS[name](server)}", flush=True)
            except Exception:
                failed += 1
                print(f"FAIL  {name}\n{traceback.format_exc()}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
