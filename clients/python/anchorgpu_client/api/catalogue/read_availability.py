import datetime
from http import HTTPStatus
from typing import Any

import httpx

from ... import errors
from ...client import AuthenticatedClient, Client
from ...models.availability import Availability
from ...models.problem import Problem
from ...types import UNSET, Response, Unset


def _get_kwargs(
    *,
    days: int,
    from_: datetime.date | Unset = UNSET,
    lot: str,
    lots: int | Unset = 1,
    to: datetime.date | Unset = UNSET,
) -> dict[str, Any]:

    params: dict[str, Any] = {}

    params["days"] = days

    json_from_: str | Unset = UNSET
    if not isinstance(from_, Unset):
        json_from_ = from_.isoformat()
    params["from"] = json_from_

    params["lot"] = lot

    params["lots"] = lots

    json_to: str | Unset = UNSET
    if not isinstance(to, Unset):
        json_to = to.isoformat()
    params["to"] = json_to

    params = {k: v for k, v in params.items() if v is not UNSET and v is not None}

    _kwargs: dict[str, Any] = {
        "method": "get",
        "url": "/api/v1/availability",
        "params": params,
    }

    return _kwargs


def _parse_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Availability | Problem | None:
    if response.status_code == 200:
        response_200 = Availability.from_dict(response.json())

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

    if response.status_code == 422:
        response_422 = Problem.from_dict(response.json())

        return response_422

    if response.status_code == 429:
        response_429 = Problem.from_dict(response.json())

        return response_429

    if client.raise_on_unexpected_status:
        raise errors.UnexpectedStatus(response.status_code, response.content)
    else:
        return None


def _build_response(
    *, client: AuthenticatedClient | Client, response: httpx.Response
) -> Response[Availability | Problem]:
    return Response(
        status_code=HTTPStatus(response.status_code),
        content=response.content,
        headers=response.headers,
        parsed=_parse_response(client=client, response=response),
    )


def sync_detailed(
    *,
    client: AuthenticatedClient,
    days: int,
    from_: datetime.date | Unset = UNSET,
    lot: str,
    lots: int | Unset = 1,
    to: datetime.date | Unset = UNSET,
) -> Response[Availability | Problem]:
    """Free lots by day and the earliest start

     Free lots of one kind by day.

    Args:
        days (int):
        from_ (datetime.date | Unset):
        lot (str):
        lots (int | Unset):  Default: 1.
        to (datetime.date | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Availability | Problem]
    """

    kwargs = _get_kwargs(
        days=days,
        from_=from_,
        lot=lot,
        lots=lots,
        to=to,
    )

    response = client.get_httpx_client().request(
        **kwargs,
    )

    return _build_response(client=client, response=response)


def sync(
    *,
    client: AuthenticatedClient,
    days: int,
    from_: datetime.date | Unset = UNSET,
    lot: str,
    lots: int | Unset = 1,
    to: datetime.date | Unset = UNSET,
) -> Availability | Problem | None:
    """Free lots by day and the earliest start

     Free lots of one kind by day.

    Args:
        days (int):
        from_ (datetime.date | Unset):
        lot (str):
        lots (int | Unset):  Default: 1.
        to (datetime.date | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Availability | Problem
    """

    return sync_detailed(
        client=client,
        days=days,
        from_=from_,
        lot=lot,
        lots=lots,
        to=to,
    ).parsed


async def asyncio_detailed(
    *,
    client: AuthenticatedClient,
    days: int,
    from_: datetime.date | Unset = UNSET,
    lot: str,
    lots: int | Unset = 1,
    to: datetime.date | Unset = UNSET,
) -> Response[Availability | Problem]:
    """Free lots by day and the earliest start

     Free lots of one kind by day.

    Args:
        days (int):
        from_ (datetime.date | Unset):
        lot (str):
        lots (int | Unset):  Default: 1.
        to (datetime.date | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Response[Availability | Problem]
    """

    kwargs = _get_kwargs(
        days=days,
        from_=from_,
        lot=lot,
        lots=lots,
        to=to,
    )

    response = await client.get_async_httpx_client().request(**kwargs)

    return _build_response(client=client, response=response)


async def asyncio(
    *,
    client: AuthenticatedClient,
    days: int,
    from_: datetime.date | Unset = UNSET,
    lot: str,
    lots: int | Unset = 1,
    to: datetime.date | Unset = UNSET,
) -> Availability | Problem | None:
    """Free lots by day and the earliest start

     Free lots of one kind by day.

    Args:
        days (int):
        from_ (datetime.date | Unset):
        lot (str):
        lots (int | Unset):  Default: 1.
        to (datetime.date | Unset):

    Raises:
        errors.UnexpectedStatus: If the server returns an undocumented status code and Client.raise_on_unexpected_status is True.
        httpx.TimeoutException: If the request takes longer than Client.timeout.

    Returns:
        Availability | Problem
    """

    return (
        await asyncio_detailed(
            client=client,
            days=days,
            from_=from_,
            lot=lot,
            lots=lots,
            to=to,
        )
    ).parsed
