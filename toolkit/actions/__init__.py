"""What every action that changes something shares: plan, approval, effects in batches, result (DESIGN section 10)."""
