"""From spans to conversations: ``read_trace`` for one trace, ``join`` for the readings of many, ``assemble`` for both.

Pure and free of order: any permutation, duplication or batching of the same spans gives an equal result.
"""

from aem_monitor.assembly.assemble import assemble
from aem_monitor.assembly.join import join
from aem_monitor.assembly.settings import AssemblySettings
from aem_monitor.assembly.trace import read_trace
from aem_monitor.assembly.tracereading import ExchangeReading, TraceReading

__all__ = ["AssemblySettings", "ExchangeReading", "TraceReading", "assemble", "join", "read_trace"]
