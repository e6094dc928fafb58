"""Law 20: what a class draws, its density, its distribution function and its moments are of one distribution.

A class is put to the tests of its support. Some compare random draws with what the class says of itself; they
have critical values by which all of them together raise a false alarm in 1 of 10,000 runs with fresh seeds
(`FALSE_ALARM`): each has 1 / 500 of that (`TESTS`), a level of 2e-7. The others are identities between
methods, which hold up to a stated numerical error.

`SIZE` numbers, n = 2,097,152, are enough to see an error of 1 % in a parameter or a normaliser:

- The scale of a normal law. The distribution function moves by 0.01 max |z phi(z)| = 0.01 / sqrt(2 pi e) =
  0.0024, and the critical distance of Kolmogorov and Smirnov is 2.84 / sqrt(n) = 0.0020. The empirical
  function has the standard deviation 0.37 / sqrt(n) = 0.0003 there, so that this test alone sees the error in
  9 of 10 runs. Neyman's second component, the mean of sqrt(5) (6 (Phi(z) - 1/2)^2 - 1/2), moves by
  0.01 sqrt(5) 6 / (2 sqrt(3) pi) = 0.012, 18 standard errors, and the variance by 2 %, 20 standard errors;
  the bounds are 5.3 and 5.2 of them.
- A mean: the bound is 5.2 / sqrt(n) = 0.4 % of the standard deviation.
- A probability p, by counts: Pearson's statistic grows by n p (0.01)^2 / (1 - p) = 210 p / (1 - p), and the
  critical value is 27 for two categories and 34 for four. An error in a smaller p shows in the sum of all.
- The normaliser: the integral of the density is 1.01, and may be off by `NUMERICAL_ERROR`. In spaces of too
  many dimensions for that, the mean of the density ratio q / p is 0.99; its bound is 0.5 % for three of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import distrax
import numpy as np
import scipy.stats

from distgen.verify.agreement import outcome
from distgen.verify.cases import FLOAT32, Case, Precision
from distgen.verify.evidence import Evidence, evidence_of
from distgen.verify.laws.registry import law
from distgen.verify.sampling import event_size, widened
from distgen.verify.specimens import specimens
from distgen.verify.statistics import (
    ROUNDING,
    chi_square,
    chi_square_bound,
    count_rows,
    grid_axis,
    ks_bound,
    ks_distance,
    neyman_components,
    product_grid,
    standard_errors,
    z_bound,
)
from distgen.verify.subjects import Subject, Subjects
from distgen.verify.supports import Circle, Interval, Points, Space, Unknown

Array = np.ndarray[Any, Any]
Test = Callable[[Evidence], None]

SEED = 20
SIZE = 2**21
# Of integrals, sums and functions in double precision.
NUMERICAL_ERROR = 2e-5
# The standard deviation of q in the ratio q / p, relative to that of p.
SPREAD = math.sqrt(0.5)
# Quantiles at which derivatives and joint distribution functions are compared.
QUANTILES = np.linspace(0.02, 0.98, 49)
JOINT_QUANTILES = (0.3, 0.5, 0.7, 0.9)


def _of_float32(subject: Subject, subjects: Subjects, precisions: Sequence[Precision]) -> Sequence[Case]:
    return specimens(subject, subjects) if FLOAT32 in precisions else ()


@law(20, examined=_of_float32)
def statistical_agreement(case: Case) -> None:
    """Draws, density, distribution function and moments are of one distribution."""
    assert_agreement(case)


def assert_agreement(case: Case, seed: int = SEED, size: int = SIZE) -> None:
    """Puts a case to its tests, with `size` numbers drawn from `seed`, or as many as make whole events.

    Raises:
        AssertionError: for the first test that fails.
    """
    evidence = evidence_of(case, seed, size // event_size(case))
    for test in tests_of(evidence):
        test(evidence)


def tests_of(evidence: Evidence) -> tuple[Test, ...]:
    """The tests of the support, and those of a class whose marginals are known."""
    known = (KNOWN[c] for c in evidence.case.subject.wrapped.__mro__ if c in KNOWN)
    return (*TESTS_OF[type(evidence.support)], *known)


def _near(what: str, got: Any, expected: Any, error: float = NUMERICAL_ERROR) -> None:
    gap = float(np.max(np.abs(np.asarray(got) - expected)))
    assert gap <= error, f"{what}: off by {gap:.3g}; the numerical error is {error:.3g} at most"


def _same_law(what: str, values: Array, cdf: Callable[[Array], Array]) -> None:
    """Draws follow a continuous law, by the tests of Kolmogorov and Smirnov, and of Neyman."""
    size = len(values)
    # What the distribution function errs by can add to the distances.
    distance, bound = ks_distance(values, cdf), ks_bound(size) + NUMERICAL_ERROR
    assert distance <= bound, (
        f"{what}: {size} draws are at a Kolmogorov-Smirnov distance of {distance:.3g}; {bound:.3g} is allowed"
    )
    components, slopes = neyman_components(values, cdf)
    excess = np.abs(components) - slopes * NUMERICAL_ERROR * math.sqrt(size)
    assert np.max(excess) <= z_bound(len(components)), (
        f"{what}: Neyman's components of {size} draws are {components.round(2)} standard errors; "
        f"{z_bound(len(components)):.3g} are allowed"
    )


def _same_mean(what: str, values: Array, expected: Any) -> None:
    errors = standard_errors(values, np.asarray(expected, np.float64))
    worst, bound = float(np.max(errors)), z_bound(errors.size)
    assert worst <= bound, (
        f"{what}: that of {len(values)} draws is {np.mean(values, axis=0)} instead of {expected}, "
        f"off by {worst:.3g} standard errors; {bound:.3g} are allowed"
    )


# Of numbers with a density.


def draws_are_in_interval(evidence: Evidence) -> None:
    """No draw is outside of the interval, or NaN."""
    low, high = _interval(evidence)
    outside = evidence.numbers[~((evidence.numbers >= low) & (evidence.numbers <= high))]
    assert not len(outside), f"{len(outside)} draws are not from {low} to {high}, such as {outside[0]}"


def mass_is_one(evidence: Evidence) -> None:
    """The integral of the density, and the masses of the ends, add up to one."""
    measure = evidence.measure
    _near("the integral of prob", measure.total, 1.0)
    difference = measure.quadrature.integral(np.abs(measure.exponentials - measure.density))
    _near("the integral of |prob - exp(log_prob)|", difference, 0.0)


def draws_follow_cdf(evidence: Evidence) -> None:
    """Draws have the distribution function of the class, or the integral of its density where it has none."""
    cdf = evidence.cdf
    whole = evidence.measure.cdf if cdf is None else lambda x: cdf(x[:, None])
    below, above = evidence.measure.ends
    what = "the integral of prob" if cdf is None else "cdf"
    _same_law(what, evidence.inner, lambda x: (whole(x) - below) / (1 - below - above))
    for end, mass in zip(_interval(evidence), evidence.measure.ends, strict=True):
        _same_mean(f"the mass at {end}", evidence.values == end, mass)


def cdf_is_integral(evidence: Evidence) -> None:
    """The distribution function is the integral of the density."""
    if evidence.cdf is not None:
        x = evidence.measure.quadrature.nodes[::64]
        _near("cdf and the integral of prob", evidence.cdf(x[:, None]), evidence.measure.cdf(x))


def slope_of_cdf(evidence: Evidence) -> None:
    """The derivative of the distribution function is the density, at quantiles of the draws."""
    if evidence.cdf is not None:
        x = np.quantile(evidence.numbers, QUANTILES)[:, None]
        density = evidence.prob(x)
        error = NUMERICAL_ERROR * float(density.max())
        _near("the derivative of cdf and prob", evidence.slope(x), density, error)


def median(evidence: Evidence) -> None:
    """Half of the draws are up to the median."""
    if "median" in evidence.moments:
        below = evidence.values <= evidence.moments["median"]
        _same_mean("the share of draws up to the median", below, 0.5)


def _interval(evidence: Evidence) -> tuple[float, float]:
    assert isinstance(evidence.support, Interval)
    return evidence.support.low, evidence.support.high


# Moments.


def mean(evidence: Evidence) -> None:
    """The mean is that of the draws."""
    if "mean" in evidence.moments:
        _same_mean("mean", evidence.values, evidence.moments["mean"])


def variance(evidence: Evidence) -> None:
    """The variance is that of the draws."""
    if "variance" in evidence.moments:
        _same_mean("variance", _centred(evidence) ** 2, evidence.moments["variance"])


def stddev(evidence: Evidence) -> None:
    """The standard deviation is the root of the variance."""
    if "variance" in evidence.moments and "stddev" in evidence.moments:
        expected = evidence.moments["variance"]
        error = 8 * ROUNDING * float(1 + expected.max())
        _near("stddev squared and variance", evidence.moments["stddev"] ** 2, expected, error)


def covariance(evidence: Evidence) -> None:
    """The covariance matrix is that of the draws."""
    if "covariance" in evidence.moments:
        columns = _centred(evidence).T
        products = np.stack([a * b for a in columns for b in columns], axis=-1)
        _same_mean("covariance", products, evidence.moments["covariance"])


def entropy(evidence: Evidence) -> None:
    """The entropy is the mean of the draws' negative log probabilities."""
    if "entropy" in evidence.moments:
        _same_mean("entropy", -evidence.draws.log_probs[:, None], evidence.moments["entropy"])


def circular_mean(evidence: Evidence) -> None:
    """The mean is an angle around which the sines of the draws cancel, and their cosines do not."""
    if "mean" in evidence.moments:
        angles = evidence.values - evidence.moments["mean"]
        _same_mean("the sine of draws from the circular mean", np.sin(angles), 0.0)
        assert np.cos(angles).mean() > 0, "the circular mean is opposite to that of the draws"


def circular_variance(evidence: Evidence) -> None:
    """The variance is one less the mean of the cosines around the mean (Mardia and Jupp, section 2.3.1)."""
    if "mean" in evidence.moments and "variance" in evidence.moments:
        angles = evidence.values - evidence.moments["mean"]
        _same_mean("circular variance", 1 - np.cos(angles), evidence.moments["variance"])


def divergence(evidence: Evidence) -> None:
    """The divergence from another object of the class is the mean of the log ratio of the densities."""
    case, other = evidence.case, evidence.case.redrawn()
    with case.precision.context():
        expected = outcome(lambda: np.asarray(case.build().kl_divergence(other.build())))
    if isinstance(expected, Exception) or not np.all(np.isfinite(expected)):
        return
    with np.errstate(divide="ignore"):
        log_q = np.log(widened(other, lambda d, x: d.prob(x)[..., None])(evidence.values))
    _same_mean("kl_divergence", evidence.draws.log_probs[:, None] - log_q, expected)


def _centred(evidence: Evidence) -> Array:
    return np.asarray(evidence.values - evidence.values.mean(axis=0))


# Of finitely many events.


def probabilities_add_up(evidence: Evidence) -> None:
    """The probabilities are at least zero and add up to one."""
    probabilities, exponentials = evidence.densities(evidence.points).T
    assert np.all(probabilities >= 0), f"a probability is {probabilities.min()}"
    _near("the sum of prob", probabilities.sum(), 1.0)
    _near("prob and exp(log_prob)", exponentials, probabilities)


def counts_follow_prob(evidence: Evidence) -> None:
    """Draws are in the support, and are each as often there as they are probable, by Pearson's test."""
    counts, size = count_rows(evidence.values, evidence.points), len(evidence.values)
    assert counts.sum() == size, f"{size - counts.sum()} draws are not in the support"
    statistic, degrees = chi_square(counts, evidence.prob(evidence.points))
    bound = chi_square_bound(degrees)
    assert statistic <= bound, (
        f"prob: the counts of {size} draws have a chi-square of {statistic:.4g} with {degrees} degrees of "
        f"freedom; {bound:.4g} is allowed"
    )


def cdf_is_sum(evidence: Evidence) -> None:
    """The distribution function of numbers is the sum of the probabilities."""
    points = evidence.points
    if points.shape[-1] == 1 and evidence.cdf is not None:
        _near("cdf and the sum of prob", evidence.cdf(points), np.cumsum(evidence.prob(points)))


# Of vectors with a density.


def mass_of_space_is_one(evidence: Evidence) -> None:
    """The integral of the density is one, by the trapezoidal rule in standardised coordinates."""
    assert isinstance(evidence.support, Space)
    chart, whitening = evidence.support.chart, evidence.whitening
    dimensions = len(whitening.mean)
    axis = grid_axis(dimensions)
    if axis is None:
        return
    events = chart.forward(whitening(product_grid(*[axis] * dimensions)))
    volume = np.exp(chart.log_det(events) + whitening.log_det) * (axis[1] - axis[0]) ** dimensions
    for name, density in zip(("prob", "exp(log_prob)"), evidence.densities(events).T, strict=True):
        _near(f"the integral of {name}", np.sum(density * volume), 1.0)


def density_ratio(evidence: Evidence) -> None:
    """The mean of q / p over draws from p is one, for a normal law q that is narrower than p.

    Moments of the draws determine q; that they are those of the same draws changes the mean by the order of
    1 / n only, as it is one for every q.
    """
    assert isinstance(evidence.support, Space)
    chart = evidence.support.chart
    log_p = evidence.draws.log_probs + chart.log_det(evidence.values)
    log_q = evidence.whitening.normal_log_density(chart.inverse(evidence.values), SPREAD)
    _same_mean("the density ratio q / p", np.exp(log_q - log_p)[:, None], 1.0)


def draws_follow_joint_cdf(evidence: Evidence) -> None:
    """As many draws are below some points in all coordinates as the joint distribution function says."""
    if evidence.cdf is not None:
        points = np.quantile(evidence.values, JOINT_QUANTILES, axis=0)
        below = np.stack([np.all(evidence.values <= point, axis=-1) for point in points], axis=-1)
        _same_mean("cdf", below, evidence.cdf(points))


# Of classes with known marginals.


def normal_projections(evidence: Evidence) -> None:
    """Draws that are standardised by mean and covariance have square lengths of a chi-square law, and normal
    projections (Kotz, Balakrishnan and Johnson, Continuous Multivariate Distributions, vol. 1, ch. 45)."""
    centre = evidence.moments["mean"]
    size = len(centre)
    factor = np.linalg.cholesky(evidence.moments["covariance"].reshape(size, size))
    z = np.linalg.solve(factor, (evidence.values - centre).T).T
    _same_law("Mahalanobis distances", np.sum(z**2, axis=-1), scipy.stats.chi2(size).cdf)
    for direction in (np.ones(size), np.cos(np.arange(size))):
        _same_law("a projection", z @ direction / np.linalg.norm(direction), scipy.stats.norm.cdf)


def beta_marginals(evidence: Evidence) -> None:
    """The components of a Dirichlet law follow beta laws (the same, ch. 49)."""
    concentration = np.asarray(evidence.case.build().concentration, np.float64)
    for i, a in enumerate(concentration):
        component = scipy.stats.beta(a, concentration.sum() - a)
        _same_law(f"component {i}", evidence.values[:, i], component.cdf)


MOMENTS: tuple[Test, ...] = (mean, variance, stddev, covariance, entropy, divergence)
ON_INTERVAL: tuple[Test, ...] = (
    draws_are_in_interval,
    mass_is_one,
    draws_follow_cdf,
    cdf_is_integral,
    slope_of_cdf,
    median,
)
TESTS_OF: Mapping[type, tuple[Test, ...]] = {
    Interval: (*ON_INTERVAL, *MOMENTS),
    Circle: (*ON_INTERVAL, circular_mean, circular_variance, stddev, entropy, divergence),
    Points: (probabilities_add_up, counts_follow_prob, cdf_is_sum, *MOMENTS),
    Space: (mass_of_space_is_one, density_ratio, draws_follow_joint_cdf, *MOMENTS),
    Unknown: MOMENTS,
}
KNOWN: Mapping[Any, Test] = {
    distrax.MultivariateNormalFromBijector: normal_projections,
    distrax.Dirichlet: beta_marginals,
}
