"""The statistics of BAM that others have published, of one economy of 1000 quarters.

Definitions are in targets.json. Standard deviations divide by n, correlations are Pearson's. Series
are arrays (quarter,) by name, `late` those of quarters 501 to 1000, and `states` the arrays at the
end of quarters 998, 999 and 1000.
"""

import functools

import numpy as np
from scipy.linalg import solveh_banded
from scipy.signal import find_peaks

STATES = (998, 999, 1000)
GRAINS = 2**20
LAGS = range(-4, 5)


def correlation(x, y):
    """Return Pearson's correlation; 0 if one does not vary."""
    x, y = x - x.mean(), y - y.mean()
    both = np.sqrt((x * x).sum() * (y * y).sum())
    return float((x * y).sum() / both) if both else 0.0


def growth(x):
    """Return the relative change from one quarter to the next; 1 is the base where it was 0."""
    return np.diff(x) / np.where(x[:-1] == 0, 1.0, x[:-1])


def inside(x, low, high):
    """Return the share of entries in an interval."""
    return float(((x >= low) & (x <= high)).mean())


def without_outliers(x, y):
    """Return the pairs of which neither is 1.5 quartile ranges outside its quartiles."""
    typical = np.ones(len(x), bool)
    for one in (x, y):
        q1, q3 = np.percentile(one, [25, 75])
        typical &= (one >= q1 - 1.5 * (q3 - q1)) & (one <= q3 + 1.5 * (q3 - q1))
    return x[typical], y[typical]


def moments(x):
    """Return skewness and excess kurtosis."""
    far = x - x.mean()
    variance = (far**2).mean()
    if variance == 0:
        return 0.0, 0.0
    return float((far**3).mean() / variance**1.5), float((far**4).mean() / variance**2 - 3)


def slope(x):
    """Return the slope of the least-squares line over time."""
    return float(np.polyfit(np.arange(len(x)), x, 1)[0])


def without_line(x):
    """Return a series less its least-squares line over time."""
    time = np.arange(len(x))
    return x - np.polyval(np.polyfit(time, x, 1), time)


def smoothed(x):
    """Return the mean of five quarters around each one; the two at each end stay as they are."""
    found = x.copy()
    found[2:-2] = np.convolve(x, np.ones(5) / 5, mode="valid")
    return found


def together(x, y):
    """Return the correlation of two series, smoothed and less their lines."""
    return correlation(without_line(smoothed(x)), without_line(smoothed(y)))


def recessions(x, first, prominence=0.03, apart=20, tail=10):
    """Return the lengths of the recessions of a series from an index on.

    A recession lasts from a peak of the smoothed series until ``tail`` quarters after the next
    trough. Recessions with fewer than ``tail`` quarters between them are one.
    """
    x = smoothed(x)
    peaks, _ = find_peaks(x, prominence=prominence, distance=apart)
    troughs, _ = find_peaks(-x, prominence=prominence, distance=apart)
    falling = np.zeros(len(x), bool)
    for peak in peaks:
        later = troughs[troughs > peak]
        if len(later):
            falling[peak : later[0] + tail] = True
    changes = np.flatnonzero(np.diff(np.r_[False, falling, False]))
    for end, begin in zip(changes[1::2], changes[2::2], strict=False):
        if begin - end < tail:
            falling[end:begin] = True
    inside = np.diff(np.r_[False, falling[first:], False].astype(int))
    return np.flatnonzero(inside == -1) - np.flatnonzero(inside == 1)


def tent_r2(x):
    """Return how straight both sides of a distribution are, with ranks on a logarithmic scale.

    The mean over negative and other values of the R2 of ln(rank) against the value; rank 1 is the
    outermost, and the outermost tenth is left out.
    """
    found = []
    for side in (np.sort(x[x < 0]), np.sort(x[x >= 0])[::-1]):
        if len(side) > 2:
            rank = np.arange(1, len(side) + 1)
            out = max(len(side) // 10, 1)
            found.append(correlation(np.log(rank[out:]), side[out:]) ** 2)
    return float(np.mean(found)) if found else 0.0


def cycle(x, smoothing=1600.0):
    """Return a series less its trend by the filter of Hodrick and Prescott (1997)."""
    return x - solveh_banded(bands_of_filter(len(x), smoothing), x)


@functools.cache
def bands_of_filter(n, smoothing):
    """Return the upper bands of the filter's matrix for n ticks, which takes long to make."""
    second = np.diff(np.eye(n), 2, axis=0)
    matrix = np.eye(n) + smoothing * second.T @ second
    return np.array([np.r_[np.zeros(k), np.diagonal(matrix, k)] for k in (2, 1, 0)])


def at_lags(x, y):
    """Return the correlations of x at t with y at t + k, for k from -4 to 4."""
    n = len(x)
    return [correlation(x[max(-k, 0) : n - max(k, 0)], y[max(k, 0) : n - max(-k, 0)]) for k in LAGS]


def autoregression(x, order):
    """Return the least-squares coefficients of a series on its last values."""
    lags = np.array([x[order - k : len(x) - k] for k in range(1, order + 1)]).T
    return np.linalg.lstsq(lags, x[order:], rcond=None)[0].tolist()


def comovements(late):
    """Return the co-movements of cycles with that of output, by name and lag, and its persistence.

    The cycle of ln Y itself is returned as well, as ``cycle``.
    """
    output = cycle(np.log(late["gdp"]))
    others = {
        "unemployment": late["unemployment"],
        "productivity": late["productivity"],
        "price_index": late["price"],
        "interest_rate": late["rate"] - late["inflation"],
        "real_wage": late["real_wage"],
    }
    found = {name: at_lags(output, cycle(x)) for name, x in others.items()}
    return {**found, "cycle": output}


def curves(late):
    """Return the correlations of Phillips, Okun and Beveridge."""
    u, wage, gdp = late["unemployment"], late["wage"], late["gdp"]
    okun = correlation(*without_outliers(growth(u), growth(gdp)))
    return {
        "phillips_correlation": correlation(u[1:], growth(wage)),
        "okun_correlation": okun,
        "okun_r_squared": okun**2,
        "beveridge_correlation": correlation(u, late["vacancy_rate"]),
    }


def common(series, late, states):
    """Return the statistics that all scenarios have."""
    output = output_of(states)
    skewness, kurtosis = moments(output)
    u, v = late["unemployment"], late["vacancy_rate"]
    return {
        "unemployment_rate_mean": u.mean(),
        "unemployment_absolute_ceiling": u.max(),
        "unemployment_std": u.std(),
        "unemployment_pct_above_floor": (u >= 0.02).mean(),
        "vacancy_rate_mean": v.mean(),
        "vacancy_rate_pct_in_bounds": inside(v, 0.08, 0.20),
        "inflation_rate_mean_all": series["inflation"].mean(),
        "real_wage_mean": late["real_wage"].mean(),
        **curves(late),
        "firm_size_skewness": skewness,
        "firm_size_kurtosis": kurtosis,
        "firm_size_tail_ratio": output.max() / np.median(output),
        "bankruptcies_mean": late["failed_firms"].mean(),
        "bank_failures_mean": late["failed_banks"].mean(),
        "hedge_all_rounds": late["hedge"].mean(),
        "ponzi_all_rounds": late["ponzi"].mean(),
        "minsky_hedge_pct": late["hedge_first"].mean(),
        "minsky_ponzi_pct": late["ponzi_first"].mean(),
        "hedge_by_flow": late["hedge_flow"].mean(),
        "borrowers": late["borrowers"].mean(),
        "gini_savings": late["gini_savings"].mean(),
        "hhi": late["hhi"].mean(),
        "soldout": late["soldout"].mean(),
    }


def output_of(states):
    """Return the output of every firm in the last quarter, in goods."""
    return states[1000]["made"] / GRAINS


def of_baseline(series, late, states):
    """Return the statistics of the baseline."""
    output = output_of(states)
    pi = series["inflation"]
    return {
        **common(series, late, states),
        "unemployment_pct_below_ceiling": (late["unemployment"] <= 0.12).mean(),
        "inflation_rate_mean": pi.mean(),
        "inflation_std": pi.std(),
        "inflation_pct_in_bounds": inside(pi, -0.05, 0.15),
        "real_wage_std": late["real_wage"].std(),
        "productivity_flatness": late["productivity"].std(),
        "wage_to_productivity_ratio": late["real_wage"].mean() / late["productivity"].mean(),
        "firm_size_pct_below": (output < 5).mean(),
        "firm_size_pct_below_medium": (output < 10).mean(),
    }


def of_growth(series, late, states):
    """Return the statistics of Growth+."""
    output, log_gdp = output_of(states), np.log(late["gdp"])
    before, after = (states[quarter]["worth"] for quarter in (998, 999))
    both = (before > 0) & (after > 0)
    rises = after[both] / before[both] - 1
    lengths = recessions(np.log(series["gdp"]), 500)
    u, pi, gdp = late["unemployment"], late["inflation"], late["gdp"]
    skill, real_wage = late["productivity"], late["real_wage"]
    real_rate = late["rate_first"] - pi
    fragility = late["wages"] / late["worth"]
    ratio = late["price"] * gdp / (late["budget"] / GRAINS)
    changes = growth(gdp)
    return {
        **common(series, late, states),
        "unemployment_pct_below_ceiling": (u <= 0.15).mean(),
        "inflation_rate_mean": pi.mean(),
        "inflation_hard_ceiling_upper": pi.max(),
        "inflation_hard_floor": pi.min(),
        "inflation_pct_in_bounds": inside(pi, -0.02, 0.10),
        "log_gdp_mean": np.log(gdp).mean(),
        "log_gdp_trend": slope(np.log(gdp)),
        "log_gdp_total_growth": np.log(gdp[-1] / gdp[0]),
        "firm_size_pct_below": (output < 150).mean(),
        "firm_size_pct_below_medium": (output < 100).mean(),
        "productivity_growth": skill[-1] / skill[0] - 1,
        "productivity_first": skill[0],
        "productivity_last": skill[-1],
        "productivity_trend": slope(np.log(skill)),
        "real_wage_growth": real_wage[-1] / real_wage[0] - 1,
        "wage_productivity_ratio_mean": (real_wage / skill).mean(),
        "wage_productivity_ratio_std": (real_wage / skill).std(),
        "real_interest_rate_mean": real_rate.mean(),
        "real_interest_rate_std": real_rate.std(),
        "real_interest_rate_pct_in_bounds": inside(real_rate, -0.02, 0.12),
        "financial_fragility_mean": fragility.mean(),
        "financial_fragility_cv": fragility.std() / fragility.mean(),
        "price_ratio_mean": ratio.mean(),
        "price_ratio_cv": ratio.std() / ratio.mean(),
        "price_ratio_floor": np.percentile(ratio, 1),
        "price_ratio_low_end": np.percentile(ratio, 5),
        "price_dispersion_mean_at_posting": late["price_cv"].mean(),
        "equity_dispersion_mean": late["worth_cv"].mean(),
        "equity_dispersion_cv": late["worth_cv"].std() / late["worth_cv"].mean(),
        "sales_dispersion_mean": late["sales_cv"].mean(),
        "sales_dispersion_cv": late["sales_cv"].std() / late["sales_cv"].mean(),
        "output_growth_pct_tight": (abs(changes) <= 0.05).mean(),
        "output_growth_pct_normal": (abs(changes) <= 0.10).mean(),
        "output_growth_outliers": (abs(changes) > 0.15).mean(),
        "output_growth_positive_frac": (changes >= 0).mean(),
        "output_growth_tent_r2": tent_r2(changes),
        "productivity_wage_correlation": correlation(without_line(skill), without_line(real_wage)),
        "n_recessions": len(lengths),
        "avg_recession_length": lengths.mean() if len(lengths) else 0.0,
        "fragility_gdp_correlation": together(fragility, log_gdp),
        "price_ratio_gdp_correlation": together(ratio, log_gdp),
        "price_dispersion_mean": late["price_cv_end"].mean(),
        "price_dispersion_std": late["price_cv_end"].std(),
        "price_dispersion_gdp_correlation": together(late["price_cv_end"], log_gdp),
        "equity_dispersion_gdp_correlation": together(late["worth_cv"], log_gdp),
        "sales_dispersion_gdp_correlation": together(late["sales_cv"], log_gdp),
        "networth_growth_pct_tight": inside(rises, -0.05, 0.05),
        "networth_growth_pct_normal": inside(rises, -0.10, 0.10),
        "networth_growth_outliers": 1 - inside(rises, -0.5, 0.2),
        "networth_growth_tent_r2": tent_r2(rises),
    }


def of_buffer_stock(series, late, states):
    """Return the statistics of Growth+ with buffer stocks."""
    last = states[1000]
    working = last["paid"] > 0
    savings = last["savings"][working] / GRAINS
    dividend = series["dividends"][998] * GRAINS / len(working)
    propensity = last["mpc"][working] - dividend / last["paid"][working]
    return {
        **of_growth(series, late, states),
        "wealth_gini": gini(savings),
        "wealth_skewness": moments(savings)[0],
        "mean_mpc": propensity.mean(),
    }


def gini(x):
    """Return the Gini coefficient."""
    x = np.sort(x)
    weights = 2 * np.arange(len(x)) + 1 - len(x)
    return float((weights * x).sum() / (len(x) * x.sum())) if x.sum() else 0.0


SCENARIOS = {"baseline": of_baseline, "growth_plus": of_growth, "buffer_stock": of_buffer_stock}
