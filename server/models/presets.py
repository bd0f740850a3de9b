"""Where well-known providers are asked: an address to begin with, and nothing else."""

from pydantic import BaseModel, Field


class Preset(BaseModel):
    """``provider``: what a service names; ``address`` empty: it has none of its own."""

    provider: str
    name: str
    address: str
    needs_key: bool = Field(description="Whether it takes no question without a key.")
    own_network: bool = Field(default=False, description="Whether it is mostly a machine of one's own.")


PRESETS = (
    Preset(provider="openai", name="OpenAI", address="https://api.openai.com/v1", needs_key=True),
    Preset(
        provider="azure",
        name="Azure OpenAI",
        address="https://YOUR-RESOURCE.openai.azure.com/openai/v1",
        needs_key=True,
    ),
    Preset(provider="deepseek", name="DeepSeek", address="https://api.deepseek.com/v1", needs_key=True),
    Preset(
        provider="dashscope",
        name="DashScope",
        address="https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        needs_key=True,
    ),
    Preset(provider="ollama", name="Ollama", address="http://localhost:11434/v1", needs_key=False, own_network=True),
    Preset(provider="vllm", name="vLLM", address="http://localhost:8000/v1", needs_key=False, own_network=True),
    Preset(
        provider="llama.cpp", name="llama.cpp", address="http://localhost:8080/v1", needs_key=False, own_network=True
    ),
    Preset(provider="other", name="Another that speaks OpenAI's protocol", address="", needs_key=False),
)
