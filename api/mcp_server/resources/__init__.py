"""The kinds of resources in the order that lists give them. One module each; to add one, write its
module and name it here. A single resource is a kind whose address has no variables."""

from api.mcp_server.resource import ResourceKind
from api.mcp_server.resources import agent_memory, bucket, category, conversation

RESOURCES: tuple[ResourceKind, ...] = (
    bucket.KIND,
    category.KIND,
    *agent_memory.KINDS,
    conversation.KIND,  # the longest list
)
