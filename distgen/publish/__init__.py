"""The publish stage: decides what would change on disk, then changes all of it or nothing.

model        what is published: artifacts, changes, a publication
header       the comment that leads every generated module and vouches for its body
manifest     the record of the last build in the output directory, and the no-op fast path
comparison   artifacts, directory -> publication; only reads
writing      publication -> files; the only code that writes to the output
"""

from distgen.publish.comparison import plan_publication, unified_diff
from distgen.publish.header import body_is_untouched, with_header
from distgen.publish.manifest import MANIFEST, is_current
from distgen.publish.model import Artifact, Change, Publication, stays_inside
from distgen.publish.writing import apply

__all__ = [
    "MANIFEST",
    "Artifact",
    "Change",
    "Publication",
    "apply",
    "body_is_untouched",
    "is_current",
    "plan_publication",
    "stays_inside",
    "unified_diff",
    "with_header",
]
