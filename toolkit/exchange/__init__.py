"""Exchange of instances with databases: import of a feed from a table, and export into one."""
