"""Plans as the tests ask for them."""

import json
from typing import Any

from django.test import Client

PATH = "/api/v1/plans"
PRESET = {"model": {"preset": "llama-3-8b"}}
CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 32,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "rms_norm_eps": 1e-5,
    "rope_scaling": None,
    "tie_word_embeddings": False,
}


def post(client: Client, body: object, **headers: str) -> Any:
    text = body if isinstance(body, str) else json.dumps(body)
    return client.post(PATH, data=text, content_type="application/json", headers=headers)


def planned(client: Client, **fields: Any) -> dict[str, Any]:
    response = post(client, {**PRESET, **fields})
    assert response.status_code == 200, response.content
    body: dict[str, Any] = response.json()
    return body


def by_lot(plan: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {lot["lot"]: lot for lot in plan["lots"]}


def no_number(name: str) -> None:
    raise AssertionError(f"{name} is no JSON")
