"""Putting the pure pipeline together from settings: one readable function, by constructor arguments."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from aem_monitor.assembly import AssemblySettings
from aem_monitor.attribution.steps import Judge, ScoringSettings
from aem_monitor.conventions.mapped import Mapped, SpanMapping
from aem_monitor.conventions.registry import Registry, registry
from aem_monitor.golden.dialog import Dialog
from aem_monitor.golden.recognise import Recogniser, Where
from aem_monitor.ingest.prefilter import Prefilter
from aem_monitor.pipeline import Pipeline
from aem_monitor.scoring.scorers import EmbeddedScorer, Scorer
from aem_monitor.scoring.submetrics import load_submetrics


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """What an operator may choose about the pure steps; see ``deploy/docs/configuration.md``."""

    assembly: AssemblySettings = field(default_factory=AssemblySettings)
    scoring: ScoringSettings = field(default_factory=ScoringSettings)
    where: Where = None
    require_where: bool = True
    similarity: float = 0.85
    margin: float = 0.1
    play_gap: float = 1800.0


def build_registry(mappings: Iterable[SpanMapping] = ()) -> Registry:
    """The built-in conventions, after those of the configuration and of installed plug-ins."""
    return Registry((*(Mapped(mapping) for mapping in mappings), *registry().with_entry_points().conventions))


def build_prefilter(
    conventions: Registry, assembly: AssemblySettings, recogniser_attributes: Iterable[str] = ()
) -> Prefilter:
    """Everything that any step reads by name passes; all else is skipped undecoded.

    What recognition is restricted by counts on spans only: it stands on the resource of every service alike.
    """
    return Prefilter((*conventions.markers, *assembly.markers), tuple(recogniser_attributes))


def build_pipeline(
    dialogs: Iterable[Dialog], settings: PipelineSettings, conventions: Registry, scorer: Scorer | None = None
) -> Pipeline:
    """The pipeline over one set of golden dialogs."""
    cheap = scorer or EmbeddedScorer()

    def similarity(a: str, b: str) -> float:
        return cheap.score([(a, b)])[0]

    return Pipeline(
        registry=conventions,
        assembly=settings.assembly,
        recogniser=Recogniser(
            dialogs,
            settings.where,
            settings.require_where,
            similarity=similarity,
            threshold=settings.similarity,
            margin=settings.margin,
        ),
        judge=Judge(cheap, replace(settings.scoring, submetrics=settings.scoring.submetrics or load_submetrics())),
        similarity=similarity,
        similar_from=settings.similarity,
        play_gap_ns=round(settings.play_gap * 10**9),
    )
