"""The statistics of BAM that others have published, of one economy's series.

Definitions are in targets.json. Standard deviations divide by n, correlations are Pearson's.
"""

import numpy as np


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
    there = np.ones(len(x), bool)
    for one in (x, y):
        q1, q3 = np.percentile(one, [25, 75])
        there &= (one >= q1 - 1.5 * (q3 - q1)) & (one <= q3 + 1.5 * (q3 - q1))
    return x[there], y[there]


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


def common(series, late, output):
    """Return the statistics that all scenarios have.

    Parameters
    ----------
    series, late : series by name, of all quarters and of 501 to 1000
    output : of every firm in the last quarter, in goods
    """
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
        "hedge_by_flow": late["hedge_flow"].mean(),
        "borrowers": late["borrowers"].mean(),
        "gini_savings": late["gini_savings"].mean(),
        "hhi": late["hhi"].mean(),
        "soldout": late["soldout"].mean(),
    }


def of_baseline(series, late, output):
    """Return the statistics of the baseline."""
    pi = series["inflation"]
    return {
        **common(series, late, output),
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


def of_growth(series, late, output):
    """Return the statistics of Growth+."""
    u, pi, gdp = late["unemployment"], late["inflation"], late["gdp"]
    skill, real_wage = late["productivity"], late["real_wage"]
    real_rate = late["rate"] - pi
    fragility = late["wages"] / late["worth"]
    ratio = late["price"] * gdp / (late["budget"] / 2**20)
    changes = growth(gdp)
    return {
        **common(series, late, output),
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
    }


SCENARIOS = {"baseline": of_baseline, "growth_plus": of_growth, "buffer_stock": of_growth}
