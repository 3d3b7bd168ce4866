"""What a scheduler has to start and when, from the entities; and that for cron, Oozie and Airflow."""
