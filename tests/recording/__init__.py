"""Programs that record test and demo data from real frameworks; not run by the test suite."""
