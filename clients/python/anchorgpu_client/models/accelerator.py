from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.grade_enum import GradeEnum
from ..models.host_arch_enum import HostArchEnum
from ..models.stack_enum import StackEnum

T = TypeVar("T", bound="Accelerator")


@_attrs_define
class Accelerator:
    """Specifications: null is unknown, 0 means that the hardware has none. GB is 10^9 bytes, GiB 2^30.

    Attributes:
        id (str):
        name (str):
        vendor (str):
        architecture (str):
        memory_gb (int | None):
        usable_gib (float | None):
        memory_type (None | str):
        bandwidth_gb_s (int | None):
        bf16_dense_tflops (int | None):
        fp8_dense_tflops (int | None):
        fp4_dense_tflops (int | None):
        board_power_w (int | None):
        link (None | str):
        link_gb_s (float | None):
        stack (StackEnum):
        stack_minimum (None | str):
        driver_minimum (None | str):
        target (str):
        host_arch (HostArchEnum):
        grade (GradeEnum):
        source (list[str]):
        conflict (str): Where sources disagree; empty where they do not.
        on_sale (bool):
    """

    id: str
    name: str
    vendor: str
    architecture: str
    memory_gb: int | None
    usable_gib: float | None
    memory_type: None | str
    bandwidth_gb_s: int | None
    bf16_dense_tflops: int | None
    fp8_dense_tflops: int | None
    fp4_dense_tflops: int | None
    board_power_w: int | None
    link: None | str
    link_gb_s: float | None
    stack: StackEnum
    stack_minimum: None | str
    driver_minimum: None | str
    target: str
    host_arch: HostArchEnum
    grade: GradeEnum
    source: list[str]
    conflict: str
    on_sale: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        vendor = self.vendor

        architecture = self.architecture

        memory_gb: int | None
        memory_gb = self.memory_gb

        usable_gib: float | None
        usable_gib = self.usable_gib

        memory_type: None | str
        memory_type = self.memory_type

        bandwidth_gb_s: int | None
        bandwidth_gb_s = self.bandwidth_gb_s

        bf16_dense_tflops: int | None
        bf16_dense_tflops = self.bf16_dense_tflops

        fp8_dense_tflops: int | None
        fp8_dense_tflops = self.fp8_dense_tflops

        fp4_dense_tflops: int | None
        fp4_dense_tflops = self.fp4_dense_tflops

        board_power_w: int | None
        board_power_w = self.board_power_w

        link: None | str
        link = self.link

        link_gb_s: float | None
        link_gb_s = self.link_gb_s

        stack = self.stack.value

        stack_minimum: None | str
        stack_minimum = self.stack_minimum

        driver_minimum: None | str
        driver_minimum = self.driver_minimum

        target = self.target

        host_arch = self.host_arch.value

        grade = self.grade.value

        source = self.source

        conflict = self.conflict

        on_sale = self.on_sale

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "vendor": vendor,
                "architecture": architecture,
                "memory_gb": memory_gb,
                "usable_gib": usable_gib,
                "memory_type": memory_type,
                "bandwidth_gb_s": bandwidth_gb_s,
                "bf16_dense_tflops": bf16_dense_tflops,
                "fp8_dense_tflops": fp8_dense_tflops,
                "fp4_dense_tflops": fp4_dense_tflops,
                "board_power_w": board_power_w,
                "link": link,
                "link_gb_s": link_gb_s,
                "stack": stack,
                "stack_minimum": stack_minimum,
                "driver_minimum": driver_minimum,
                "target": target,
                "host_arch": host_arch,
                "grade": grade,
                "source": source,
                "conflict": conflict,
                "on_sale": on_sale,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        vendor = d.pop("vendor")

        architecture = d.pop("architecture")

        def _parse_memory_gb(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        memory_gb = _parse_memory_gb(d.pop("memory_gb"))

        def _parse_usable_gib(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        usable_gib = _parse_usable_gib(d.pop("usable_gib"))

        def _parse_memory_type(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        memory_type = _parse_memory_type(d.pop("memory_type"))

        def _parse_bandwidth_gb_s(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        bandwidth_gb_s = _parse_bandwidth_gb_s(d.pop("bandwidth_gb_s"))

        def _parse_bf16_dense_tflops(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        bf16_dense_tflops = _parse_bf16_dense_tflops(d.pop("bf16_dense_tflops"))

        def _parse_fp8_dense_tflops(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        fp8_dense_tflops = _parse_fp8_dense_tflops(d.pop("fp8_dense_tflops"))

        def _parse_fp4_dense_tflops(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        fp4_dense_tflops = _parse_fp4_dense_tflops(d.pop("fp4_dense_tflops"))

        def _parse_board_power_w(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        board_power_w = _parse_board_power_w(d.pop("board_power_w"))

        def _parse_link(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        link = _parse_link(d.pop("link"))

        def _parse_link_gb_s(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        link_gb_s = _parse_link_gb_s(d.pop("link_gb_s"))

        stack = StackEnum(d.pop("stack"))

        def _parse_stack_minimum(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        stack_minimum = _parse_stack_minimum(d.pop("stack_minimum"))

        def _parse_driver_minimum(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        driver_minimum = _parse_driver_minimum(d.pop("driver_minimum"))

        target = d.pop("target")

        host_arch = HostArchEnum(d.pop("host_arch"))

        grade = GradeEnum(d.pop("grade"))

        source = cast(list[str], d.pop("source"))

        conflict = d.pop("conflict")

        on_sale = d.pop("on_sale")

        accelerator = cls(
            id=id,
            name=name,
            vendor=vendor,
            architecture=architecture,
            memory_gb=memory_gb,
            usable_gib=usable_gib,
            memory_type=memory_type,
            bandwidth_gb_s=bandwidth_gb_s,
            bf16_dense_tflops=bf16_dense_tflops,
            fp8_dense_tflops=fp8_dense_tflops,
            fp4_dense_tflops=fp4_dense_tflops,
            board_power_w=board_power_w,
            link=link,
            link_gb_s=link_gb_s,
            stack=stack,
            stack_minimum=stack_minimum,
            driver_minimum=driver_minimum,
            target=target,
            host_arch=host_arch,
            grade=grade,
            source=source,
            conflict=conflict,
            on_sale=on_sale,
        )

        accelerator.additional_properties = d
        return accelerator

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
