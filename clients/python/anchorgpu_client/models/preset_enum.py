from enum import StrEnum


class PresetEnum(StrEnum):
    DEEPSEEK_V2_LITE = "deepseek-v2-lite"
    DEEPSEEK_V3 = "deepseek-v3"
    GEMMA_2_2B = "gemma-2-2b"
    GEMMA_2_9B = "gemma-2-9b"
    LLAMA_2_13B = "llama-2-13b"
    LLAMA_2_70B = "llama-2-70b"
    LLAMA_2_7B = "llama-2-7b"
    LLAMA_3_1_405B = "llama-3.1-405b"
    LLAMA_3_2_1B = "llama-3.2-1b"
    LLAMA_3_2_3B = "llama-3.2-3b"
    LLAMA_3_70B = "llama-3-70b"
    LLAMA_3_8B = "llama-3-8b"
    MISTRAL_7B = "mistral-7b"
    MIXTRAL_8X7B = "mixtral-8x7b"
    PHI_3_MINI = "phi-3-mini"
    QWEN2_5_0_5B = "qwen2.5-0.5b"
    QWEN2_5_14B = "qwen2.5-14b"
    QWEN2_5_1_5B = "qwen2.5-1.5b"
    QWEN2_5_32B = "qwen2.5-32b"
    QWEN2_5_72B = "qwen2.5-72b"
    QWEN2_5_7B = "qwen2.5-7b"
    QWEN3_8B = "qwen3-8b"
    QWEN_14B = "qwen-14b"
    QWEN_7B = "qwen-7b"
    SMOLLM2_135M = "smollm2-135m"
    SMOLLM2_1_7B = "smollm2-1.7b"
    SMOLLM2_360M = "smollm2-360m"
    TINYLLAMA_1_1B = "tinyllama-1.1b"
    YI_34B = "yi-34b"
    YI_6B = "yi-6b"

    def __str__(self) -> str:
        return str(self.value)
