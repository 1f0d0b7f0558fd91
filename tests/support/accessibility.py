"""IO: what a page withholds from people who read it otherwise, as a real browser sees it: axe-core, names, contrast."""

from __future__ import annotations

from functools import cache
from importlib import resources

from tests.support.browser import Page

SERIOUS = ("serious", "critical")

_RUN = """
const { violations } = await axe.run(document, { resultTypes: ['violations'] });
return violations.map(each => [each.impact, each.id, ...each.nodes.map(node => node.html.slice(0, 120))]);
"""

UNNAMED = """
const named = 'a, button, input:not([type=hidden]), summary, section, nav, article, form';
return [...document.querySelectorAll(named)].filter(each => {
    const by = (each.getAttribute('aria-labelledby') || '').split(' ').map(id => document.getElementById(id));
    const labels = each.labels ? [...each.labels] : [];
    const name = each.getAttribute('aria-label')
        || [...by, ...labels].map(other => other ? other.textContent : '').join('') || each.textContent;
    return !name.trim();
}).map(each => each.outerHTML.slice(0, 120));
"""
"""Elements that a screen reader could not name."""

PALE = """
const part = value => { value /= 255; return value <= .03928 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4; };
const weights = [.2126, .7152, .0722];
const light = rgb => rgb.slice(0, 3).map(part).reduce((sum, each, place) => sum + each * weights[place], 0);
const numbers = text => text.match(/[\\d.]+/g).map(Number);
const behind = each => {
    for (; each; each = each.parentElement) {
        const colour = numbers(getComputedStyle(each).backgroundColor);
        if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
};
return [...document.querySelectorAll('body *')]
    .filter(each => [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
    .filter(each => each.checkVisibility())
    .filter(each => !['SCRIPT', 'STYLE'].includes(each.tagName))
    .map(each => [light(numbers(getComputedStyle(each).color)), light(behind(each)), each.outerHTML.slice(0, 120)])
    .map(([one, other, html]) => [(Math.max(one, other) + .05) / (Math.min(one, other) + .05), html])
    .filter(([contrast]) => contrast < 4.5);
"""
"""Texts whose contrast is below WCAG's 4.5."""


@cache
def _axe() -> str:
    """axe-core, which the locked development package `axe-core-python` holds."""
    return (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")


def serious(page: Page) -> list[list[str]]:
    """Each serious violation that axe-core finds on the open page: its impact, its rule, and the elements."""
    page.run(f"{_axe()}; return 1")
    return [violation for violation in page.run(_RUN) if violation[0] in SERIOUS]
