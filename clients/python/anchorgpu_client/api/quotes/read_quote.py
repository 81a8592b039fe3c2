from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.problem import Problem
from ...models.quote import Quote
from ...types import Response


def _get_kwargs(
    quote_id: str,
) -> dict[str, Any]:

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/quotes/{quote_id}".format(
            quote_id=quote(str(quote_id), safe=""),
        ),
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Problem | Quote | None:
    if response.status_code == 200:
        response_200 = Quote.from_dict(response.json())

        return response_200

    if response.status_code == 400:
        response_400 = Problem.from_dict(response.json())

        return response_400

    if response.status_code == 401:
        response_401 = Problem.from_dict(response.json())

        return response_401

    if response.status_code == 404:
        response_404 = Problem.from_dict(response.json())

        return response_404

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
) -> Response[Problem | Quote]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    quote_id: str,
    *,
    client: AuthenticatedClient,
) -> Response[Problem | Quote]:
    """One quote and whether it is still open

     Whoever has the id of a quote may read it: it says what is offered, not to whom.

    Args:
        quote_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Quote]
    """

    kwargs = _get_kwargs(
        quote_id=quote_id,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    quote_id: str,
    *,
    client: AuthenticatedClient,
) -> Problem | Quote | None:
    """One quote and whether it is still open

     Whoever has the id of a quote may read it: it says what is offered, not to whom.

    Args:
        quote_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Quote
    """

    return sync_detailed(
        quote_id=quote_id,
        client=client,
    ).parsed


async def asyncio_detailed(
    quote_id: str,
    *,
    client: AuthenticatedClient,
) -> Response[Problem | Quote]:
    """One quote and whether it is still open

     Whoever has the id of a quote may read it: it says what is offered, not to whom.

    Args:
        quote_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Problem | Quote]
    """

    kwargs = _get_kwargs(
        quote_id=quote_id,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    quote_id: str,
    *,
    client: AuthenticatedClient,
) -> Problem | Quote | None:
    """One quote and whether it is still open

     Whoever has the id of a quote may read it: it says what is offered, not to whom.

    Args:
        quote_id (str):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Problem | Quote
    """

    return (
        await asyncio_detailed(
            quote_id=quote_id,
            client=client,
        )
    ).parsed
