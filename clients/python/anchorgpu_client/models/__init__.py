"""Contains all the data models used in inputs/outputs"""

from .accelerator import Accelerator
from .accelerator_list import AcceleratorList
from .access import Access
from .access_card import AccessCard
from .attempt import Attempt
from .availability import Availability
from .bill_to_body_request import BillToBodyRequest
from .billed import Billed
from .binding_enum import BindingEnum
from .chosen_option import ChosenOption
from .ckpt_enum import CkptEnum
from .claim_body_request import ClaimBodyRequest
from .code_enum import CodeEnum
from .contact import Contact
from .contact_body_request import ContactBodyRequest
from .day_free import DayFree
from .delivery import Delivery
from .delivery_list import DeliveryList
from .delivery_status_enum import DeliveryStatusEnum
from .early_end import EarlyEnd
from .early_end_part import EarlyEndPart
from .endpoint import Endpoint
from .endpoint_body_request import EndpointBodyRequest
from .endpoint_list import EndpointList
from .endpoint_status_enum import EndpointStatusEnum
from .endpoint_with_secret import EndpointWithSecret
from .engine_enum import EngineEnum
from .event import Event
from .event_data import EventData
from .event_list import EventList
from .extension_body_request import ExtensionBodyRequest
from .field_error import FieldError
from .finish_enum import FinishEnum
from .flags_enum import FlagsEnum
from .framework_enum import FrameworkEnum
from .grade_enum import GradeEnum
from .host_arch_enum import HostArchEnum
from .kind_enum import KindEnum
from .kv_dtype_enum import KvDtypeEnum
from .language_enum import LanguageEnum
from .line import Line
from .line_facts import LineFacts
from .loss_kernel_enum import LossKernelEnum
from .lot import Lot
from .lot_list import LotList
from .lot_price import LotPrice
from .method_enum import MethodEnum
from .missed import Missed
from .nothing_body_request import NothingBodyRequest
from .notify_enum import NotifyEnum
from .optimizer_enum import OptimizerEnum
from .option_body_request import OptionBodyRequest
from .order import Order
from .order_body_request import OrderBodyRequest
from .order_body_request_metadata import OrderBodyRequestMetadata
from .order_event_list import OrderEventList
from .order_lease import OrderLease
from .order_lease_status_enum import OrderLeaseStatusEnum
from .order_list import OrderList
from .order_metadata import OrderMetadata
from .order_status_enum import OrderStatusEnum
from .param_dtype_enum import ParamDtypeEnum
from .patched_endpoint_change_body_request import PatchedEndpointChangeBodyRequest
from .pay_with import PayWith
from .pay_with_body_request import PayWithBodyRequest
from .payment import Payment
from .payment_status_enum import PaymentStatusEnum
from .plan import Plan
from .plan_lever import PlanLever
from .plan_lot import PlanLot
from .plan_memory import PlanMemory
from .plan_memory_moments_item import PlanMemoryMomentsItem
from .plan_memory_moments_item_moment import PlanMemoryMomentsItemMoment
from .plan_model_request import PlanModelRequest
from .plan_model_request_config_type_0 import PlanModelRequestConfigType0
from .plan_note import PlanNote
from .plan_note_params import PlanNoteParams
from .plan_pilot_request import PlanPilotRequest
from .plan_range import PlanRange
from .plan_request_request import PlanRequestRequest
from .plan_rules import PlanRules
from .plan_run import PlanRun
from .plan_term import PlanTerm
from .planned_model import PlannedModel
from .preset_enum import PresetEnum
from .problem import Problem
from .quote import Quote
from .quote_body_request import QuoteBodyRequest
from .quote_status_enum import QuoteStatusEnum
from .rail_enum import RailEnum
from .refund import Refund
from .refund_status_enum import RefundStatusEnum
from .root import Root
from .shape_enum import ShapeEnum
from .sharding_enum import ShardingEnum
from .speed_enum import SpeedEnum
from .stack_enum import StackEnum
from .table_row_enum import TableRowEnum
from .verdict_enum import VerdictEnum
from .weights_enum import WeightsEnum

__all__ = (
    "Accelerator",
    "AcceleratorList",
    "Access",
    "AccessCard",
    "Attempt",
    "Availability",
    "Billed",
    "BillToBodyRequest",
    "BindingEnum",
    "ChosenOption",
    "CkptEnum",
    "ClaimBodyRequest",
    "CodeEnum",
    "Contact",
    "ContactBodyRequest",
    "DayFree",
    "Delivery",
    "DeliveryList",
    "DeliveryStatusEnum",
    "EarlyEnd",
    "EarlyEndPart",
    "Endpoint",
    "EndpointBodyRequest",
    "EndpointList",
    "EndpointStatusEnum",
    "EndpointWithSecret",
    "EngineEnum",
    "Event",
    "EventData",
    "EventList",
    "ExtensionBodyRequest",
    "FieldError",
    "FinishEnum",
    "FlagsEnum",
    "FrameworkEnum",
    "GradeEnum",
    "HostArchEnum",
    "KindEnum",
    "KvDtypeEnum",
    "LanguageEnum",
    "Line",
    "LineFacts",
    "LossKernelEnum",
    "Lot",
    "LotList",
    "LotPrice",
    "MethodEnum",
    "Missed",
    "NothingBodyRequest",
    "NotifyEnum",
    "OptimizerEnum",
    "OptionBodyRequest",
    "Order",
    "OrderBodyRequest",
    "OrderBodyRequestMetadata",
    "OrderEventList",
    "OrderLease",
    "OrderLeaseStatusEnum",
    "OrderList",
    "OrderMetadata",
    "OrderStatusEnum",
    "ParamDtypeEnum",
    "PatchedEndpointChangeBodyRequest",
    "Payment",
    "PaymentStatusEnum",
    "PayWith",
    "PayWithBodyRequest",
    "Plan",
    "PlanLever",
    "PlanLot",
    "PlanMemory",
    "PlanMemoryMomentsItem",
    "PlanMemoryMomentsItemMoment",
    "PlanModelRequest",
    "PlanModelRequestConfigType0",
    "PlannedModel",
    "PlanNote",
    "PlanNoteParams",
    "PlanPilotRequest",
    "PlanRange",
    "PlanRequestRequest",
    "PlanRules",
    "PlanRun",
    "PlanTerm",
    "PresetEnum",
    "Problem",
    "Quote",
    "QuoteBodyRequest",
    "QuoteStatusEnum",
    "RailEnum",
    "Refund",
    "RefundStatusEnum",
    "Root",
    "ShapeEnum",
    "ShardingEnum",
    "SpeedEnum",
    "StackEnum",
    "TableRowEnum",
    "VerdictEnum",
    "WeightsEnum",
)
