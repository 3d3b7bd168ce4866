"""Data-driven triggers: updates of datasets become runs of processes (Airflow AIP-48)."""
