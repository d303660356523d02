"""Frozen, validated description of a hierarchy run. Importing this module needs neither torch nor numpy."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar

from ddcl_core.config import EPSILON_RANGE, TEMPERATURE_RANGE, DataConfig, RunConfig, _number
from ddcl_core.errors import InputError

MAX_LEVELS = 4


@dataclass(frozen=True)
class LevelConfig:
    """One level above the first. It reads the prototypes of the level below, each weighted with its usage.

    num_prototypes: K of this level. temperature: T, in the unit of squared tokens. epsilon: how fast the prototypes below
    follow this level's loss, relative to how fast its own do; 0 lets it only look. weight: of its loss in the sum.
    init_scale: a; its prototypes start at the mean of those below plus a times their offsets.
    """

    num_prototypes: int = 4
    temperature: float = 2.0
    epsilon: float = 0.1
    weight: float = 1.0
    init_scale: float = 0.8

    def __post_init__(self) -> None:
        _number("num_prototypes", self.num_prototypes, 1, 512, whole=True)
        _number("temperature (T)", self.temperature, *TEMPERATURE_RANGE)
        _number("epsilon", self.epsilon, *EPSILON_RANGE)
        _number("weight", self.weight, 0.0, 1e6)
        _number("init_scale (a)", self.init_scale, 0.0, 100.0)


@dataclass(frozen=True)
class HierarchyConfig:
    """Everything that determines a hierarchy run. base: the first level and all that is shared; upper: the levels above."""

    run_kind: ClassVar[str] = "hierarchy"

    base: RunConfig = field(default_factory=lambda: RunConfig(num_prototypes=12))
    upper: tuple[LevelConfig, ...] = (LevelConfig(),)

    def __post_init__(self) -> None:
        object.__setattr__(self, "upper", tuple(self.upper))
        if not 1 <= len(self.upper) <= MAX_LEVELS - 1:
            raise InputError(f"A hierarchy has 2 to {MAX_LEVELS} levels; this one has {1 + len(self.upper)}.")
        sizes = [self.base.num_prototypes, *(level.num_prototypes for level in self.upper)]
        for below, above in zip(sizes, sizes[1:]):
            if above > below:
                raise InputError(f"A level of {above} prototypes cannot compress the {below} below it; give it {below} or fewer.")

    # What pages and the engine ask of any configuration is that of the first level.

    @property
    def seed(self) -> int:
        """Of all random choices."""
        return self.base.seed

    @property
    def data(self) -> DataConfig:
        """The tokens, which runs that are compared share."""
        return self.base.data

    @property
    def epsilon(self) -> float:
        """Of the first level: encoder against prototypes."""
        return self.base.epsilon

    @property
    def temperature(self) -> float:
        """Of the first level, at step 0."""
        return self.base.temperature

    @property
    def num_prototypes(self) -> int:
        """Of all levels together: what the maps show."""
        return sum(self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """K of each level, from fine to coarse."""
        return (self.base.num_prototypes, *(level.num_prototypes for level in self.upper))

    @property
    def schedule(self) -> Any:
        """Of the first level's temperature."""
        return self.base.schedule

    @property
    def max_steps(self) -> int:
        """The run is finished there."""
        return self.base.max_steps

    @property
    def frame_every(self) -> int:
        """As in RunConfig."""
        return self.base.frame_every

    def with_(self, **changes: Any) -> "HierarchyConfig":
        """A copy with some fields changed; 'epsilon@1', 'temperature@1', ... mean the levels above the first, all else
        is passed on to the first. Raises InputError for a level that is not there."""
        upper = list(self.upper)
        for name in [name for name in changes if "@" in name]:
            kind, _, level = name.partition("@")
            index = int(level) - 1
            if kind not in ("epsilon", "temperature") or not -1 <= index < len(upper):
                raise InputError(f"There is no setting called {name!r} here; there are {len(upper)} levels above the first.")
            value = changes.pop(name)
            if index < 0:
                changes[kind] = value
            else:
                upper[index] = replace(upper[index], **{kind: value})
        return replace(self, base=self.base.with_(**changes), upper=tuple(upper))

    def to_dict(self) -> dict[str, Any]:
        """Plain dictionaries, numbers and strings; `from_dict` reads them back. `data` stands at the top, too."""
        return json.loads(json.dumps({"base": self.base.to_dict(), "upper": [asdict(level) for level in self.upper]}))

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "HierarchyConfig":
        """Read what `to_dict` wrote; raises InputError for an unknown name or a value that does not fit."""
        if not isinstance(values, dict) or set(values) - {"base", "upper"}:
            raise InputError("A hierarchy's configuration has the parts base and upper, and no other.")
        try:
            upper = tuple(LevelConfig(**level) for level in values.get("upper", ()))
        except TypeError as error:
            raise InputError(f"A level holds a setting that is not known: {error}.") from error
        return cls(RunConfig.from_dict(values.get("base", {})), upper)

    def scene_digest(self) -> str:
        """Short hash of everything that determines the tokens and the map; the levels above leave it as it is."""
        return self.base.scene_digest()
