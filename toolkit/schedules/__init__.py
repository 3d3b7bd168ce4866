"""Schedule of all actions, from the entities, and its export for cron, Oozie and Airflow."""
