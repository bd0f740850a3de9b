"""Response bodies that write their fields in camel case, as many vendors do."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class CamelBody(BaseModel):
    """Fields are snake case in Python and camel case on the wire."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)
