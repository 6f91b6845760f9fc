"""Roots of many cubics at once, for priors whose best α is the root of a cubic."""

from __future__ import annotations

import math

from sparsebayes._array import Array, namespace


def outer_cubic_roots(a: Array, b: Array, c: Array) -> tuple[Array, Array]:
    """Largest and smallest real root of x³ + ax² + bx + c, elementwise; equal where only one is real.

    Trigonometric form for three real roots, Cardano's (the branch without cancellation) for one, then two
    Newton steps, which converge on the outer roots from outside.
    """
    xp = namespace(a)
    p, r = b - a * a / 3, (2 * a * a * a - 9 * a * b) / 27 + c
    discriminant = (r / 2) ** 2 + (p / 3) ** 3
    three = discriminant <= 0
    root = xp.sqrt(xp.where(p < 0, -p / 3, xp.zeros_like(p)))
    cubed = xp.where(root > 0, root**3, xp.ones_like(root))
    angle = xp.acos(xp.clip(-r / 2 / cubed, -1.0, 1.0)) / 3
    width = xp.sqrt(xp.where(three, xp.zeros_like(p), discriminant)) + xp.abs(r) / 2
    lone = -xp.sign(r) * xp.where(width > 0, width, xp.zeros_like(width)) ** (1 / 3)
    single = lone - xp.where(lone != 0, p / (3 * xp.where(lone != 0, lone, xp.ones_like(lone))), xp.zeros_like(p))
    large = xp.where(three, 2 * root * xp.cos(angle), single) - a / 3
    small = xp.where(three, 2 * root * xp.cos(angle + 2 * math.pi / 3), single) - a / 3
    return tuple(_newton_steps(x, a, b, c) for x in (large, small))


def _newton_steps(x: Array, a: Array, b: Array, c: Array) -> Array:
    xp = namespace(x)
    for _ in range(2):
        value, slope = ((x + a) * x + b) * x + c, (3 * x + 2 * a) * x + b
        step = xp.where(slope != 0, value / xp.where(slope != 0, slope, xp.ones_like(slope)), xp.zeros_like(x))
        # at a double root the step is a ratio of roundings: never let it leave the neighbourhood
        x = x - xp.clip(step, -1e-3 * (1 + xp.abs(x)), 1e-3 * (1 + xp.abs(x)))
    return x
