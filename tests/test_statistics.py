"""The tools of statistical tests, the faults that law 20 catches, and plots."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import distrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from subjects import BY_CLASS, SUBJECTS

from distgen.verify import statistics as tools
from distgen.verify.cases import FLOAT32, Case, Precision
from distgen.verify.laws import statistics as laws
from distgen.verify.plots import plot
from distgen.verify.sampling import draw, event_size
from distgen.verify.specimens import specimens
from distgen.verify.subjects import Subject
from distgen.verify.supports import Circle, Interval, Points, Space, Unknown, support_of

RNG = np.random.default_rng(0)
DISTRIBUTIONS = [s for s in SUBJECTS if s.plan.kind == "distribution"]
SPECIMENS = [case for subject in DISTRIBUTIONS for case in specimens(subject, BY_CLASS)]


class TestCriticalValues:
    def test_bonferroni(self) -> None:
        assert pytest.approx(tools.FALSE_ALARM) == tools.LEVEL * tools.TESTS

    @pytest.mark.parametrize("comparisons", [1, 9])
    def test_z(self, comparisons: int) -> None:
        bound = tools.z_bound(comparisons)
        assert comparisons * math.erfc(bound / math.sqrt(2)) == pytest.approx(tools.LEVEL)

    def test_kolmogorov_smirnov(self) -> None:
        # The first term of Kolmogorov's series, 2 exp(-2 n d^2); the next is its fourth power.
        assert 2 * math.exp(-2 * 1000 * tools.ks_bound(1000) ** 2) == pytest.approx(tools.LEVEL)

    def test_chi_square_of_two_degrees(self) -> None:
        assert math.exp(-tools.chi_square_bound(2) / 2) == pytest.approx(tools.LEVEL)

    def test_random_tests_are_no_more_than_stated(self) -> None:
        """At most this many critical values are asked for in one run of all classes."""
        most = {
            laws.draws_follow_cdf: 4,
            laws.normal_projections: 6,
            laws.beta_marginals: 8,
            laws.counts_follow_prob: 1,
            laws.density_ratio: 1,
            laws.draws_follow_joint_cdf: 1,
            laws.median: 1,
            laws.mean: 1,
            laws.variance: 1,
            laws.covariance: 1,
            laws.entropy: 1,
            laws.divergence: 1,
            laws.circular_mean: 1,
            laws.circular_variance: 1,
        }
        assert sum(most.get(test, 0) for case in SPECIMENS for test in _tests_of(case)) <= tools.TESTS


def _tests_of(case: Case) -> list[Any]:
    support = support_of(case, case.build(), np.zeros(1))
    known = [test for c, test in laws.KNOWN.items() if issubclass(case.subject.wrapped, c)]
    return [*laws.TESTS_OF[type(support)], *known]


class TestStandardErrors:
    def test_of_two_values(self) -> None:
        # Mean 2, standard deviation 1, standard error 1 / sqrt(2).
        errors = tools.standard_errors(np.array([[1.0], [3.0]]), np.zeros(1))
        assert errors == pytest.approx([2 * math.sqrt(2)], rel=1e-5)

    def test_of_equal_values(self) -> None:
        values = np.full((10, 1), 2.0)
        assert tools.standard_errors(values, np.array([2.0 + 1e-7])) == 0
        assert np.isinf(tools.standard_errors(values, np.array([2.1])))

    def test_infinity_is_within_no_bound(self) -> None:
        errors = tools.standard_errors(np.array([[1.0], [np.inf]]), np.ones(1))
        assert not np.any(errors <= tools.z_bound())


class TestDistances:
    def test_of_four_values(self) -> None:
        values = np.array([0.4, 0.1, 0.3, 0.2])
        assert tools.ks_distance(values, lambda x: x) == pytest.approx(0.6)

    def test_of_atoms(self) -> None:
        values = np.array([0.0, 0.0, 0.5, 1.0])
        assert tools.ks_distance(values, lambda x: np.array([0.5, 0.5, 0.75, 1.0])) == 0

    def test_agrees_with_scipy(self) -> None:
        values = RNG.normal(0.1, 1.0, 5000)
        expected = scipy.stats.kstest(values, "norm").statistic
        assert tools.ks_distance(values, scipy.stats.norm.cdf) == pytest.approx(expected, abs=1 / 5000)
        coarse = tools.ks_distance(values, scipy.stats.norm.cdf, checkpoints=100)
        assert expected - 1 / 100 <= coarse <= expected

    def test_neyman_components_of_one_value(self) -> None:
        # u = 3/4: sqrt(3) / 2, and sqrt(5) (6 / 16 - 1 / 2).
        components, _ = tools.neyman_components(np.full(100, 7.0), lambda x: np.full(len(x), 0.75))
        assert components == pytest.approx([10 * math.sqrt(3) / 2, -10 * math.sqrt(5) / 8])

    def test_neyman_components_of_a_uniform_law(self) -> None:
        middles = (np.arange(10_000) + 0.5) / 10_000
        components, _ = tools.neyman_components(middles, lambda x: x)
        assert components == pytest.approx([0, 0], abs=1e-5)

    def test_neyman_components_have_unit_variance(self) -> None:
        components = [tools.neyman_components(RNG.uniform(size=50), lambda x: x)[0] for _ in range(4000)]
        # The variance of 4000 squares of normal numbers is 2 / 4000, and five deviations are 0.11.
        assert np.var(components, axis=0) == pytest.approx([1, 1], abs=0.12)


class TestChiSquare:
    def test_by_hand(self) -> None:
        statistic, degrees = tools.chi_square(np.array([30, 50, 20]), np.array([0.25, 0.5, 0.25]), least=5)
        assert (statistic, degrees) == (pytest.approx(1 + 0 + 1), 2)

    def test_agrees_with_scipy(self) -> None:
        p = RNG.dirichlet(np.full(6, 5.0))
        observed = RNG.multinomial(10_000, p)
        expected = scipy.stats.chisquare(observed, 10_000 * p).statistic
        assert tools.chi_square(observed, p, least=5)[0] == pytest.approx(expected)

    def test_pools_small_cells(self) -> None:
        # 90, and 4 + 6 = 10 of which 5 + 5 are expected.
        statistic, degrees = tools.chi_square(np.array([4, 90, 6]), np.array([0.05, 0.9, 0.05]), least=8)
        assert (statistic, degrees) == (pytest.approx(0), 1)

    def test_pools_what_is_still_small_with_the_next(self) -> None:
        observed, p = np.array([50, 40, 10]), np.array([0.6, 0.35, 0.05])
        statistic, degrees = tools.chi_square(observed, p, least=10)
        assert (statistic, degrees) == (pytest.approx(100 / 60 + 100 / 40), 1)

    def test_what_is_impossible(self) -> None:
        assert tools.chi_square(np.array([9, 1]), np.array([1.0, 0.0]))[0] == math.inf
        assert tools.chi_square(np.array([10, 0]), np.array([1.0, 0.0])) == (0, 0)

    def test_rows_are_counted(self) -> None:
        points = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0]])
        values = np.array([[1.0, 0.0], [2.0, 5.0], [1.0, 0.0], [5.0, 2.0]])
        assert tools.count_rows(values, points).tolist() == [0, 2, 1]


class TestQuadrature:
    @pytest.mark.parametrize(
        ("law", "low", "high"),
        [
            (scipy.stats.norm(3, 2), -np.inf, np.inf),
            (scipy.stats.t(3), -np.inf, np.inf),
            (scipy.stats.gamma(0.5), 0, np.inf),
            (scipy.stats.beta(0.5, 3), 0, 1),
            (scipy.stats.expon(loc=2), 2, np.inf),
            (scipy.stats.uniform(-1, 3), -1, 2),
        ],
        ids=["normal", "t", "pole", "poles", "half-line", "uniform"],
    )
    def test_of_densities(self, law: Any, low: float, high: float) -> None:
        first, centre, last = law.ppf([0.25, 0.5, 0.75])
        quadrature = tools.line(low, high, centre, last - first)
        density = law.pdf(quadrature.nodes)
        assert quadrature.integral(density) == pytest.approx(1, abs=1e-8)
        x = law.ppf([0.01, 0.3, 0.9])
        mass = np.interp(x, quadrature.nodes, quadrature.cumulative(density))
        assert mass == pytest.approx([0.01, 0.3, 0.9], abs=1e-8)

    def test_of_a_mirrored_half_line(self) -> None:
        quadrature = tools.line(-np.inf, 1.0, 0.0, 1.0)
        assert np.all(np.diff(quadrature.nodes) >= 0) and np.all(quadrature.nodes < 1)
        assert quadrature.integral(np.exp(quadrature.nodes - 1)) == pytest.approx(1)

    def test_of_a_jump(self) -> None:
        quadrature = tools.line(0.0, 1.0, 0.5, 1.0)
        assert quadrature.integral(quadrature.nodes > 0.3) == pytest.approx(0.7, abs=laws.NUMERICAL_ERROR / 4)

    def test_grid_of_a_correlated_normal_law(self) -> None:
        mean, covariance = np.array([1.0, -2.0, 0.5]), np.array([[2.0, 0.9, 0], [0.9, 1, 0.2], [0, 0.2, 3]])
        whitening = tools.Whitening(np.zeros(3), np.linalg.cholesky(1.1 * covariance))
        axis = tools.grid_axis(3)
        assert axis is not None
        y = whitening(tools.product_grid(axis, axis, axis))
        volume = math.exp(whitening.log_det) * (axis[1] - axis[0]) ** 3
        density = scipy.stats.multivariate_normal(mean, covariance).pdf(y)
        # Eight standard deviations from the wrong mean are six from the right one, of mass 4e-8.
        assert np.sum(density) * volume == pytest.approx(1, abs=1e-7)

    def test_no_grid_in_many_dimensions(self) -> None:
        assert tools.grid_axis(4) is not None
        assert tools.grid_axis(5) is None

    def test_whitening(self) -> None:
        values = RNG.normal(size=(500, 2)) @ np.array([[1.0, 0.5], [0.0, 2.0]])
        whitening = tools.Whitening.of(values)
        z = whitening.inverse(values)
        assert np.cov(z, rowvar=False) == pytest.approx(np.eye(2))
        assert whitening(z) == pytest.approx(values)
        expected = scipy.stats.multivariate_normal(values.mean(axis=0), np.cov(values, rowvar=False) / 4)
        assert whitening.normal_log_density(values, 0.5) == pytest.approx(expected.logpdf(values))


class TestSimplexChart:
    Y = RNG.normal(size=(20, 3))

    def test_events_are_on_the_simplex(self) -> None:
        x = tools.SIMPLEX.forward(self.Y)
        assert x.shape == (20, 4) and np.all(x > 0)
        assert x.sum(axis=-1) == pytest.approx(np.ones(20))
        assert tools.SIMPLEX.inverse(x) == pytest.approx(self.Y)

    def test_determinant(self) -> None:
        def parts(y: jax.Array) -> jax.Array:
            share = jax.nn.sigmoid(y)
            left = jnp.cumprod(jnp.concatenate([jnp.ones(1), 1 - share[:-1]]))
            return left * share

        with jax.enable_x64(True):
            jacobians = jax.vmap(jax.jacobian(parts))(jnp.asarray(self.Y))
        expected = np.linalg.slogdet(np.asarray(jacobians))[1]
        assert tools.SIMPLEX.log_det(tools.SIMPLEX.forward(self.Y)) == pytest.approx(expected)

    def test_first_element(self) -> None:
        first, slope = tools.SIMPLEX.first(self.Y[:, 0])
        assert first == pytest.approx(tools.SIMPLEX.forward(self.Y)[:, 0])
        moved, _ = tools.SIMPLEX.first(self.Y[:, 0] + 1e-6)
        assert (moved - first) / 1e-6 == pytest.approx(slope, rel=1e-4)


SUPPORTS = {
    "Bernoulli": Points,
    "Beta": Interval,
    "Categorical": Points,
    "Clipped": Interval,
    "Deterministic": Points,
    "Dirichlet": Space,
    "Independent": Space,
    "Joint": Space,
    "MixtureSameFamily": Interval,
    "Multinomial": Points,
    "OneHotCategorical": Points,
    "Quantized": Points,
    "Transformed": Interval,
    "VonMises": Circle,
}


def specimen(name: str, index: int = 0) -> Case:
    (subject,) = (s for s in DISTRIBUTIONS if repr(s) == name)
    return specimens(subject, BY_CLASS)[index]


class TestSpecimens:
    @pytest.mark.parametrize(("name", "kind"), SUPPORTS.items())
    def test_support(self, name: str, kind: type) -> None:
        case = specimen(name)
        assert type(support_of(case, case.build(), np.zeros(1))) is kind

    def test_every_distribution_has_one_whose_support_is_known(self) -> None:
        supports = {repr(c.subject): support_of(c, c.build(), np.zeros(1)) for c in SPECIMENS}
        assert [*supports] == [repr(s) for s in DISTRIBUTIONS]
        assert not any(isinstance(support, Unknown) for support in supports.values())

    @pytest.mark.parametrize(
        ("index", "expected"),
        [(0, Interval(-math.inf, math.inf)), (1, Interval(0.0, 1.0)), (2, Interval(-1.0, 1.0))],
    )
    def test_image_of_an_interval(self, index: int, expected: Interval) -> None:
        case = specimen("Transformed", index)
        assert support_of(case, case.build(), np.zeros(1)) == expected

    def test_points_of_counts(self) -> None:
        case = specimen("Multinomial")
        support = support_of(case, case.build(), np.zeros(1))
        assert isinstance(support, Points)
        # Three balls in four bins.
        assert len({*map(tuple, support.values)}) == math.comb(3 + 4 - 1, 4 - 1) == len(support.values)
        assert np.all(support.values >= 0) and np.all(support.values.sum(axis=-1) == 3)

    def test_points_without_bounds_reach_beyond_the_draws(self) -> None:
        case = specimen("Quantized")
        support = support_of(case, case.build(), np.array([-1.0, 2.0]))
        assert isinstance(support, Points)
        assert support.labels.tolist() == list(range(-5, 7))

    def test_values_are_those_of_float32(self) -> None:
        for case in SPECIMENS:
            for value in case.values.values():
                assert np.array_equal(value, np.asarray(value, np.float32))

    def test_examined(self) -> None:
        law = laws.statistical_agreement
        assert law.examined is not None
        (bijector,) = (s for s in SUBJECTS if s.wrapped is distrax.Tanh)
        assert len(law.examined(BY_CLASS[distrax.Transformed], BY_CLASS, [FLOAT32])) == 3
        assert not law.examined(bijector, BY_CLASS, [FLOAT32])
        assert not law.examined(BY_CLASS[distrax.Normal], BY_CLASS, [Precision(jnp.bfloat16)])
        # No children are at hand.
        assert not law.examined(BY_CLASS[distrax.Transformed], {}, [FLOAT32])

    def test_draws_are_rows(self) -> None:
        case = specimen("Joint")
        assert event_size(case) == 4
        draws = draw(case, 0, 10)
        assert draws.values.shape == (10, 4) and draws.log_probs.shape == (10,)
        again, other = draw(case, 0, 10), draw(case, 1, 10)
        assert np.array_equal(draws.values, again.values) and not np.array_equal(draws.values, other.values)


def faulty(case: Case, **methods: Callable[..., Any]) -> Case:
    """The case with a class whose methods return something else: `method(self, result, *args)`."""
    generated = case.subject.generated

    def spoilt(name: str, method: Callable[..., Any]) -> Any:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            return method(self, getattr(generated, name)(self, *args, **kwargs), *args)

        return call

    wrong = type("Wrong", (generated,), {name: spoilt(name, method) for name, method in methods.items()})
    return replace(case, subject=replace(case.subject, generated=wrong))


def one_percent(d: Any, result: Any, *args: Any) -> Any:
    return 1.01 * result


def denser(d: Any, log_prob: Any, *args: Any) -> Any:
    return log_prob + math.log(1.01)


def wider(d: Any, draws: Any, *args: Any) -> Any:
    return d.mean() + 1.01 * (draws - d.mean())


def tied(d: Any, draws: Any, *args: Any) -> Any:
    """Any two elements are independent and normal, and the product of all three is positive."""
    z = draws - d.loc
    sign = jnp.sign(z[..., 0] * z[..., 2])
    return d.loc + z.at[..., 1].set(jnp.abs(z[..., 1]) * sign)


# Each with the specimen, the faulty methods, and what the message has to say.
FAULTS = {
    "scale of draws": ("Normal", 0, {"_sample_n": wider}, "cdf"),
    "scale of draws without cdf": (
        "Transformed",
        2,
        {"_sample_n": lambda d, y, *args: jnp.tanh(0.25 + 1.01 * (jnp.arctanh(y) - 0.25))},
        "the integral of prob",
    ),
    "draws outside": ("Uniform", 0, {"_sample_n": lambda d, x, *args: x + 1e-4}, "draws are not from 0"),
    "draws that are not clipped": (
        "ClippedNormal",
        0,
        {"_sample_n": lambda d, x, *args: x + 1e-4},
        "not from",
    ),
    "draws that are NaN": (
        "Normal",
        0,
        {"_sample_n": lambda d, x, *args: x.at[0].set(jnp.nan)},
        "draws are not from",
    ),
    "normaliser": ("Gumbel", 0, {"log_prob": denser}, "the integral of prob: off by 0.01"),
    "normaliser of log_prob alone": ("VonMises", 0, {"log_prob": denser}, "prob - exp"),
    "normaliser of prob alone": ("VonMises", 0, {"prob": one_percent}, "the integral of prob: off by 0.01"),
    "normaliser of a mixture": ("MixtureOfTwo", 0, {"log_prob": denser}, "the integral of prob: off by 0.01"),
    "normaliser of vectors": (
        "MultivariateNormalTri",
        0,
        {"log_prob": denser},
        "integral of prob: off by 0.01",
    ),
    "normaliser on the simplex": ("Dirichlet", 0, {"log_prob": denser}, "the integral of prob: off by 0.01"),
    "normaliser of a joint law": ("Joint", 0, {"log_prob": denser}, "the integral of prob: off by 0.01"),
    "mass of an atom": (
        "Clipped",
        0,
        {"log_prob": lambda d, log_prob, x: jnp.where(x == d.maximum, log_prob + 0.01, log_prob)},
        "the integral of prob: off by 0.00159",
    ),
    "weight of a component": (
        "MixtureOfTwo",
        0,
        {
            "_sample_n": lambda d, x, key, n: jnp.where(
                jax.random.bernoulli(jax.random.fold_in(key, 7), 0.01, x.shape), x[0], x
            )
        },
        "the integral of prob",
    ),
    "cdf": ("Logistic", 0, {"cdf": lambda d, cdf, x: cdf**1.01}, "cdf"),
    "cdf far out": (
        "Logistic",
        0,
        {"cdf": lambda d, cdf, x: jnp.where(cdf < 1e-4, 0.0, cdf)},
        "cdf and the integral of prob",
    ),
    "slope of cdf": (
        "Uniform",
        0,
        {"cdf": lambda d, cdf, x: jax.lax.stop_gradient(cdf)},
        "the derivative of cdf",
    ),
    "median": ("Laplace", 0, {"median": lambda d, median: median + 0.01 * d.scale}, "the median"),
    "mean": ("Bernoulli", 1, {"mean": one_percent}, "mean"),
    "variance": ("Normal", 0, {"variance": one_percent, "stddev": lambda d, s: s * 1.01**0.5}, "variance"),
    "stddev": ("Normal", 0, {"stddev": one_percent}, "stddev squared"),
    "entropy": ("Normal", 0, {"entropy": one_percent}, "entropy"),
    "circular mean": ("VonMises", 0, {"mean": lambda d, mean: mean + 0.01}, "circular mean"),
    "opposite circular mean": ("VonMises", 0, {"mean": lambda d, mean: mean + math.pi}, "opposite"),
    "circular variance": ("VonMises", 0, {"variance": one_percent}, "circular variance"),
    "one probability": (
        "Categorical",
        0,
        {
            "log_prob": lambda d, log_prob, k: jnp.where(k == 0, log_prob + 0.01, log_prob),
            "prob": lambda d, prob, k: jnp.where(k == 0, math.exp(0.01) * prob, prob),
        },
        "the sum of prob",
    ),
    "one log probability": (
        "Bernoulli",
        1,
        {"log_prob": lambda d, log_prob, k: jnp.where(k == 0, log_prob + 0.01, log_prob)},
        "prob and exp(log_prob)",
    ),
    "shares of draws": (
        "Categorical",
        0,
        {
            "_sample_n": lambda d, k, key, n: jnp.where(
                (k == 0) & jax.random.bernoulli(jax.random.fold_in(key, 7), 0.01, k.shape), 2, k
            )
        },
        "chi-square",
    ),
    "draws that are no category": (
        "Greedy",
        0,
        {"_sample_n": lambda d, k, *args: k + 4},
        "not in the support",
    ),
    "cdf of numbers": ("Categorical", 1, {"cdf": lambda d, cdf, x: cdf**1.01}, "cdf and the sum of prob"),
    "covariance of counts": ("Multinomial", 0, {"covariance": one_percent}, "covariance"),
    "scale of vectors": ("MultivariateNormalDiagPlusLowRank", 0, {"_sample_n": wider}, "the density ratio"),
    "three dependent elements": ("MultivariateNormalDiag", 0, {"_sample_n": tied}, "cdf"),
    "covariance of vectors": (
        "MultivariateNormalFullCovariance",
        0,
        {"covariance": one_percent},
        "covariance",
    ),
    "joint cdf": ("MultivariateNormalDiag", 0, {"cdf": one_percent}, "cdf"),
}


class TestFaults:
    """What is 1 % off, or plainly wrong, breaks the law."""

    @pytest.mark.parametrize("fault", FAULTS)
    def test_is_caught(self, fault: str) -> None:
        name, index, methods, message = FAULTS[fault]
        case = faulty(specimen(name, index), **methods)
        with case.precision.context(), pytest.raises(AssertionError, match=re.escape(message)):
            laws.statistical_agreement.check(case)

    @pytest.mark.parametrize("name", ["Normal", "Bernoulli", "Independent"])
    def test_no_fault_is_none(self, name: str) -> None:
        case = faulty(specimen(name), log_prob=lambda d, log_prob, *args: log_prob + 0)
        for seed in (1, 2):
            laws.assert_agreement(case, seed)

    def test_classes_of_distrax_can_be_asked(self) -> None:
        case = specimen("Clipped")
        child = case.children["distribution"]
        raw = replace(child, subject=replace(child.subject, generated=distrax.Normal))
        subject = replace(case.subject, generated=distrax.Clipped)
        laws.statistical_agreement.check(replace(case, subject=subject, children={"distribution": raw}))


class TestPlots:
    @pytest.mark.parametrize("subject", DISTRIBUTIONS, ids=repr)
    def test_heights_are_near_the_density(self, subject: Subject) -> None:
        shown = plot(subject, BY_CLASS)
        assert shown is not None
        assert shown.subject == repr(subject) and repr(subject) in shown.title and shown.samples == 100_000
        edges, heights = np.array(shown.edges), np.array(shown.heights)
        points, density = np.array(shown.points), np.array(shown.density)
        assert np.all(np.isfinite(np.concatenate([edges, heights, points, density])))
        assert np.all(np.diff(edges) > 0) and np.all(np.diff(points) > 0) and len(points) == len(density)
        if shown.is_discrete:
            assert shown.edges == shown.points and heights.sum() == pytest.approx(1)
            error = 5 * np.sqrt(density * (1 - density) / shown.samples) + 1e-4
            assert np.all(np.abs(heights - density) <= error)
            return
        widths = np.diff(edges)
        middles = edges[:-1] + widths / 2
        # Errors of 60 shares, each of about sqrt(p / n), and those of a straight line between the points.
        apart = np.sum(np.abs(heights - np.interp(middles, points, density)) * widths)
        assert len(heights) == len(widths) and apart <= 0.04
        assert np.sum(heights * widths) == pytest.approx(1, abs=0.33 if "with" in shown.title else 1.5e-3)

    def test_atoms_are_in_the_title(self) -> None:
        shown = plot(BY_CLASS[distrax.ClippedNormal], BY_CLASS)
        # The normal law of loc 0.25 and scale 1.25 has the ends -1 and 1.5 one deviation away.
        assert shown is not None and shown.title.endswith("; with 0.159 at -1 and 0.159 at 1.5")

    def test_one_hot_vectors_are_shown_by_category(self) -> None:
        shown = plot(BY_CLASS[distrax.OneHotCategorical], BY_CLASS)
        assert shown is not None and shown.points == (0, 1, 2, 3)

    def test_marginal_of_a_normal_law(self) -> None:
        shown = plot(BY_CLASS[distrax.MultivariateNormalTri], BY_CLASS)
        d = specimen("MultivariateNormalTri").build()
        assert shown is not None
        expected = scipy.stats.norm(float(d.mean()[0]), float(d.stddev()[0])).pdf(shown.points)
        assert shown.density == pytest.approx(expected, rel=1e-4)

    def test_marginal_of_a_dirichlet_law(self) -> None:
        shown = plot(BY_CLASS[distrax.Dirichlet], BY_CLASS)
        a = np.asarray(specimen("Dirichlet").values["concentration"])
        assert shown is not None
        expected = scipy.stats.beta(a[0], a[1:].sum()).pdf(shown.points)
        assert shown.density == pytest.approx(expected, rel=1e-3)

    def test_bijectors_have_none(self) -> None:
        assert plot(BY_CLASS[distrax.Tanh], BY_CLASS) is None
