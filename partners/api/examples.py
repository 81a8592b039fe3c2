"""Answers as the OpenAPI document shows them; a test holds their shape to that of real answers."""

from typing import Any

ROOT: dict[str, Any] = {
    "name": "AnchorGPU",
    "version": "0.1.0",
    "currency": "USD",
    "simulated": True,
    "notice": "Allocation of GPUs and access to them are simulated on this machine.",
    "terms_version": "2026-11-30",
    "pay_with": [{"rail": "crypto", "network": "local", "asset": "USDC"}],
}

ACCELERATOR: dict[str, Any] = {
    "id": "b200-180",
    "name": "NVIDIA B200",
    "vendor": "NVIDIA",
    "architecture": "Blackwell",
    "memory_gb": 180,
    "usable_gib": None,
    "memory_type": "HBM3e",
    "bandwidth_gb_s": 8000,
    "bf16_dense_tflops": 2250,
    "fp8_dense_tflops": 4500,
    "fp4_dense_tflops": 9000,
    "board_power_w": 1000,
    "link": "NVLink 5",
    "link_gb_s": 1800.0,
    "stack": "CUDA",
    "stack_minimum": "12.8",
    "driver_minimum": "570",
    "target": "sm_100",
    "host_arch": "x86_64",
    "grade": "V",
    "source": ["vendor data sheet"],
    "conflict": "",
    "on_sale": True,
}

LOT: dict[str, Any] = {
    "id": "b200-180x2",
    "accelerator": "b200-180",
    "cards": 2,
    "memory_gb": 180,
    "vcpu": 56,
    "ram_gb": 560,
    "nvme_gb": 7600,
    "uplink_gbit_s": 100,
    "specs_are_demo": True,
    "price_version": 1,
    "prices": [{"days": 3, "amount": "1000.00", "currency": "USD"}],
    "images": ["pt-cu128"],
    "options": ["nvme-extra"],
}
