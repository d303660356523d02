"""Where tokens come from: synthetic topics, or real documents through a frozen encoder.

Importing this needs numpy only; torch and transformers are imported when text has to be encoded.
"""

from ddcl_core.data.progress import LoadingCancelled
from ddcl_core.data.scene import TokenScene, load_scene

__all__ = ["LoadingCancelled", "TokenScene", "load_scene"]
