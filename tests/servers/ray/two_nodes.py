"""Two Ray nodes on this machine, one core each: prints their address, and ends with its standard input.

A process of its own: Ray looks for its own address with a datagram, which tests may not send.
"""
# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

import os
import sys
from typing import Any

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

from ray.cluster_utils import Cluster

# Of the loopback range, and not 127.0.0.1: Ray takes that for "the address that others see".
HEAD, OTHER = "127.0.0.2", "127.0.0.3"
NODE: dict[str, Any] = {"num_cpus": 1, "object_store_memory": 100 * 2**20, "include_dashboard": False}


def main() -> None:
    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "node_ip_address": HEAD})
    cluster.add_node(**NODE, node_ip_address=OTHER)
    cluster.wait_for_nodes(timeout=60)
    print(str(cluster.address), flush=True)
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main()
