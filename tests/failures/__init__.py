"""The daemon as a process between real services, disturbed: its verdicts and totals are those of a quiet run."""
