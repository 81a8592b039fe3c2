from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.lot_list import LotList
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    accelerator: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
    min_memory_gb: int | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["accelerator"] = accelerator

    params["cursor"] = cursor

    params["limit"] = limit

    params["min_memory_gb"] = min_memory_gb

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/lots",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> LotList | Problem | None:
    if response.status_code == 200:
        response_200 = LotList.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 406:
        response_406 = Problem.from_dict(response.json())

        return response_406

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[LotList | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    accelerator: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
    min_memory_gb: int | Unset = UNSET,
) -> Response[LotList | Problem]:
    """Lots on sale with their prices

     A lot is N cards of one node, sold together. What is withdrawn or has no price is not listed.

    Args:
        accelerator (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):  Default: 50.
        min_memory_gb (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LotList | Problem]
    """

    kwargs = _get_kwargs(
        accelerator=accelerator,
        cursor=cursor,
        limit=limit,
        min_memory_gb=min_memory_gb,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    accelerator: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
    min_memory_gb: int | Unset = UNSET,
) -> LotList | Problem | None:
    """Lots on sale with their prices

     A lot is N cards of one node, sold together. What is withdrawn or has no price is not listed.

    Args:
        accelerator (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):  Default: 50.
        min_memory_gb (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LotList | Problem
    """

    return sync_detailed(
        client=client,
        accelerator=accelerator,
        cursor=cursor,
        limit=limit,
        min_memory_gb=min_memory_gb,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    accelerator: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
    min_memory_gb: int | Unset = UNSET,
) -> Response[LotList | Problem]:
    """Lots on sale with their prices

     A lot is N cards of one node, sold together. What is withdrawn or has no price is not listed.

    Args:
        accelerator (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):  Default: 50.
        min_memory_gb (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[LotList | Problem]
    """

    kwargs = _get_kwargs(
        accelerator=accelerator,
        cursor=cursor,
        limit=limit,
        min_memory_gb=min_memory_gb,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    accelerator: str | Unset = UNSET,
    cursor: str | Unset = UNSET,
    limit: int | Unset = 50,
    min_memory_gb: int | Unset = UNSET,
) -> LotList | Problem | None:
    """Lots on sale with their prices

     A lot is N cards of one node, sold together. What is withdrawn or has no price is not listed.

    Args:
        accelerator (str | Unset):
        cursor (str | Unset):
        limit (int | Unset):  Default: 50.
        min_memory_gb (int | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        LotList | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            accelerator=accelerator,
            cursor=cursor,
            limit=limit,
            min_memory_gb=min_memory_gb,
        )
    ).parsed
