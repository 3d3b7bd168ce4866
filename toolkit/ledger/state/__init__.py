"""State that is not configuration: suspensions, safe mode, holds, and who changed what (DESIGN section 6)."""
