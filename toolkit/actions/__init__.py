"""The kernel: what every mutating action shares (DESIGN section 10).

An action says what it lists, what it decides and what it does (`Action`); everything else is here, once: choosing
entities, one run for each target, plan and digest, limits and approval, recovery, the batch loop, and what is asked
before every effect (`Guard`).
"""
