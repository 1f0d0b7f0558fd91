"""IO: PostgreSQL: migrations, grants, named queries, pools and the gate's transaction."""
