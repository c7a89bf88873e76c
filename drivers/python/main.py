"""Runs every check of the Python drivers; the order of these imports is the order of the checks."""

import logging
import sys

logging.basicConfig(level=logging.ERROR, stream=sys.stderr)

import scenario  # noqa: E402
import check_schema  # noqa: E402,F401
import check_types  # noqa: E402,F401
import check_statements  # noqa: E402,F401
import check_writes  # noqa: E402,F401
import check_paging  # noqa: E402,F401
import check_buckets  # noqa: E402,F401
import check_session  # noqa: E402,F401
import check_connections  # noqa: E402,F401
import check_mapper  # noqa: E402,F401

if scenario.DRIVER == "scylla-driver":
    import check_shards  # noqa: F401  (cassandra-driver knows no shards)

sys.exit(scenario.run())
