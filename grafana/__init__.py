"""Builds the Grafana dashboards in ``grafana/dashboards``: ``python -m grafana.build``. No part of what is installed.

One module a dashboard; ``promql`` writes queries, ``panels`` panels, ``dashboard`` what is around them.
"""
