"""Key lookups through SQL, and by flexAsynch through the NDB API, without a MySQL server."""

NDB_API = "ndb_api"
"""Key lookups by flexAsynch, which asks the data nodes without a MySQL server."""
AT_ONCE = {"ndb-api": 1, "ndb-api-32": 32}
"""Lookups that a thread of flexAsynch has under way at once, by the name of the variant."""
