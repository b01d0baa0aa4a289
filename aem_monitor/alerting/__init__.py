"""Built-in alerting: root causes that become frequent and releases that become worse, found in final verdicts."""
