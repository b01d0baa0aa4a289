"""Programs that print what things cost. They are no tests: nothing here asserts a time."""
