"""``python -m aem_monitor``."""

import sys

from aem_monitor.cli.main import main

sys.exit(main())
