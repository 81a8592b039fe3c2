from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.ckpt_enum import CkptEnum
from ..models.engine_enum import EngineEnum
from ..models.framework_enum import FrameworkEnum
from ..models.kv_dtype_enum import KvDtypeEnum
from ..models.loss_kernel_enum import LossKernelEnum
from ..models.method_enum import MethodEnum
from ..models.optimizer_enum import OptimizerEnum
from ..models.param_dtype_enum import ParamDtypeEnum
from ..models.sharding_enum import ShardingEnum
from ..models.weights_enum import WeightsEnum
from ..types import UNSET, Unset

T = TypeVar("T", bound="PlanRun")


@_attrs_define
class PlanRun:
    """The run as it was planned, with every default filled in.

    Attributes:
        lora_targets (str):
        method (MethodEnum | Unset):  Default: MethodEnum.FULL.
        weights (WeightsEnum | Unset):  Default: WeightsEnum.BF16.
        param_dtype (ParamDtypeEnum | Unset):  Default: ParamDtypeEnum.BF16.
        optimizer (OptimizerEnum | Unset):  Default: OptimizerEnum.ADAMW.
        optimizer_bytes (float | None | Unset): State per trained parameter, where your optimizer is not in the list.
        lora_rank (int | Unset):  Default: 16.
        seq_len (int | Unset): Tokens of the longest sequence. Default: 2048.
        micro_batch (int | Unset): Sequences per card and step; when serving, conversations at once. Default: 1.
        accumulation (int | Unset):  Default: 1.
        ckpt (CkptEnum | Unset):  Default: CkptEnum.FULL.
        flash (bool | Unset): False: attention that keeps its score matrices. Default: True.
        loss_kernel (LossKernelEnum | Unset):  Default: LossKernelEnum.HF.
        compiled (bool | Unset):  Default: False.
        packing (bool | Unset): False: sequences of different length, padded. Default: True.
        upcast (bool | Unset): True: prepare_model_for_kbit_training was called. Default: False.
        lora_dropout (bool | Unset):  Default: True.
        n_cards (int | Unset): With sharding it fixes the shape; where neither is given, each lot gets the shape that
            suits it. Default: 1.
        sharding (ShardingEnum | Unset):  Default: ShardingEnum.NONE.
        framework (FrameworkEnum | Unset):  Default: FrameworkEnum.HF_TRAINER.
        engine (EngineEnum | Unset):  Default: EngineEnum.GENERATE.
        kv_dtype (KvDtypeEnum | Unset):  Default: KvDtypeEnum.BF16.
    """

    lora_targets: str
    method: MethodEnum | Unset = MethodEnum.FULL
    weights: WeightsEnum | Unset = WeightsEnum.BF16
    param_dtype: ParamDtypeEnum | Unset = ParamDtypeEnum.BF16
    optimizer: OptimizerEnum | Unset = OptimizerEnum.ADAMW
    optimizer_bytes: float | None | Unset = UNSET
    lora_rank: int | Unset = 16
    seq_len: int | Unset = 2048
    micro_batch: int | Unset = 1
    accumulation: int | Unset = 1
    ckpt: CkptEnum | Unset = CkptEnum.FULL
    flash: bool | Unset = True
    loss_kernel: LossKernelEnum | Unset = LossKernelEnum.HF
    compiled: bool | Unset = False
    packing: bool | Unset = True
    upcast: bool | Unset = False
    lora_dropout: bool | Unset = True
    n_cards: int | Unset = 1
    sharding: ShardingEnum | Unset = ShardingEnum.NONE
    framework: FrameworkEnum | Unset = FrameworkEnum.HF_TRAINER
    engine: EngineEnum | Unset = EngineEnum.GENERATE
    kv_dtype: KvDtypeEnum | Unset = KvDtypeEnum.BF16
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lora_targets = self.lora_targets

        method: str | Unset = UNSET
        if not isinstance(self.method, Unset):
            method = self.method.value

        weights: str | Unset = UNSET
        if not isinstance(self.weights, Unset):
            weights = self.weights.value

        param_dtype: str | Unset = UNSET
        if not isinstance(self.param_dtype, Unset):
            param_dtype = self.param_dtype.value

        optimizer: str | Unset = UNSET
        if not isinstance(self.optimizer, Unset):
            optimizer = self.optimizer.value

        optimizer_bytes: float | None | Unset
        if isinstance(self.optimizer_bytes, Unset):
            optimizer_bytes = UNSET
        else:
            optimizer_bytes = self.optimizer_bytes

        lora_rank = self.lora_rank

        seq_len = self.seq_len

        micro_batch = self.micro_batch

        accumulation = self.accumulation

        ckpt: str | Unset = UNSET
        if not isinstance(self.ckpt, Unset):
            ckpt = self.ckpt.value

        flash = self.flash

        loss_kernel: str | Unset = UNSET
        if not isinstance(self.loss_kernel, Unset):
            loss_kernel = self.loss_kernel.value

        compiled = self.compiled

        packing = self.packing

        upcast = self.upcast

        lora_dropout = self.lora_dropout

        n_cards = self.n_cards

        sharding: str | Unset = UNSET
        if not isinstance(self.sharding, Unset):
            sharding = self.sharding.value

        framework: str | Unset = UNSET
        if not isinstance(self.framework, Unset):
            framework = self.framework.value

        engine: str | Unset = UNSET
        if not isinstance(self.engine, Unset):
            engine = self.engine.value

        kv_dtype: str | Unset = UNSET
        if not isinstance(self.kv_dtype, Unset):
            kv_dtype = self.kv_dtype.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lora_targets": lora_targets,
            }
        )
        if method is not UNSET:
            field_dict["method"] = method
        if weights is not UNSET:
            field_dict["weights"] = weights
        if param_dtype is not UNSET:
            field_dict["param_dtype"] = param_dtype
        if optimizer is not UNSET:
            field_dict["optimizer"] = optimizer
        if optimizer_bytes is not UNSET:
            field_dict["optimizer_bytes"] = optimizer_bytes
        if lora_rank is not UNSET:
            field_dict["lora_rank"] = lora_rank
        if seq_len is not UNSET:
            field_dict["seq_len"] = seq_len
        if micro_batch is not UNSET:
            field_dict["micro_batch"] = micro_batch
        if accumulation is not UNSET:
            field_dict["accumulation"] = accumulation
        if ckpt is not UNSET:
            field_dict["ckpt"] = ckpt
        if flash is not UNSET:
            field_dict["flash"] = flash
        if loss_kernel is not UNSET:
            field_dict["loss_kernel"] = loss_kernel
        if compiled is not UNSET:
            field_dict["compiled"] = compiled
        if packing is not UNSET:
            field_dict["packing"] = packing
        if upcast is not UNSET:
            field_dict["upcast"] = upcast
        if lora_dropout is not UNSET:
            field_dict["lora_dropout"] = lora_dropout
        if n_cards is not UNSET:
            field_dict["n_cards"] = n_cards
        if sharding is not UNSET:
            field_dict["sharding"] = sharding
        if framework is not UNSET:
            field_dict["framework"] = framework
        if engine is not UNSET:
            field_dict["engine"] = engine
        if kv_dtype is not UNSET:
            field_dict["kv_dtype"] = kv_dtype

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        lora_targets = d.pop("lora_targets")

        _method = d.pop("method", UNSET)
        method: MethodEnum | Unset
        if isinstance(_method, Unset):
            method = UNSET
        else:
            method = MethodEnum(_method)

        _weights = d.pop("weights", UNSET)
        weights: WeightsEnum | Unset
        if isinstance(_weights, Unset):
            weights = UNSET
        else:
            weights = WeightsEnum(_weights)

        _param_dtype = d.pop("param_dtype", UNSET)
        param_dtype: ParamDtypeEnum | Unset
        if isinstance(_param_dtype, Unset):
            param_dtype = UNSET
        else:
            param_dtype = ParamDtypeEnum(_param_dtype)

        _optimizer = d.pop("optimizer", UNSET)
        optimizer: OptimizerEnum | Unset
        if isinstance(_optimizer, Unset):
            optimizer = UNSET
        else:
            optimizer = OptimizerEnum(_optimizer)

        def _parse_optimizer_bytes(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        optimizer_bytes = _parse_optimizer_bytes(d.pop("optimizer_bytes", UNSET))

        lora_rank = d.pop("lora_rank", UNSET)

        seq_len = d.pop("seq_len", UNSET)

        micro_batch = d.pop("micro_batch", UNSET)

        accumulation = d.pop("accumulation", UNSET)

        _ckpt = d.pop("ckpt", UNSET)
        ckpt: CkptEnum | Unset
        if isinstance(_ckpt, Unset):
            ckpt = UNSET
        else:
            ckpt = CkptEnum(_ckpt)

        flash = d.pop("flash", UNSET)

        _loss_kernel = d.pop("loss_kernel", UNSET)
        loss_kernel: LossKernelEnum | Unset
        if isinstance(_loss_kernel, Unset):
            loss_kernel = UNSET
        else:
            loss_kernel = LossKernelEnum(_loss_kernel)

        compiled = d.pop("compiled", UNSET)

        packing = d.pop("packing", UNSET)

        upcast = d.pop("upcast", UNSET)

        lora_dropout = d.pop("lora_dropout", UNSET)

        n_cards = d.pop("n_cards", UNSET)

        _sharding = d.pop("sharding", UNSET)
        sharding: ShardingEnum | Unset
        if isinstance(_sharding, Unset):
            sharding = UNSET
        else:
            sharding = ShardingEnum(_sharding)

        _framework = d.pop("framework", UNSET)
        framework: FrameworkEnum | Unset
        if isinstance(_framework, Unset):
            framework = UNSET
        else:
            framework = FrameworkEnum(_framework)

        _engine = d.pop("engine", UNSET)
        engine: EngineEnum | Unset
        if isinstance(_engine, Unset):
            engine = UNSET
        else:
            engine = EngineEnum(_engine)

        _kv_dtype = d.pop("kv_dtype", UNSET)
        kv_dtype: KvDtypeEnum | Unset
        if isinstance(_kv_dtype, Unset):
            kv_dtype = UNSET
        else:
            kv_dtype = KvDtypeEnum(_kv_dtype)

        plan_run = cls(
            lora_targets=lora_targets,
            method=method,
            weights=weights,
            param_dtype=param_dtype,
            optimizer=optimizer,
            optimizer_bytes=optimizer_bytes,
            lora_rank=lora_rank,
            seq_len=seq_len,
            micro_batch=micro_batch,
            accumulation=accumulation,
            ckpt=ckpt,
            flash=flash,
            loss_kernel=loss_kernel,
            compiled=compiled,
            packing=packing,
            upcast=upcast,
            lora_dropout=lora_dropout,
            n_cards=n_cards,
            sharding=sharding,
            framework=framework,
            engine=engine,
            kv_dtype=kv_dtype,
        )

        plan_run.additional_properties = d
        return plan_run

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
