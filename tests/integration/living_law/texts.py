"""A law and its second version: a unit is kept, one is revised, one is new, one ends and one moves."""

from __future__ import annotations

FIRST = """# Part One

Preamble.

## Kept

The first rule stays.

## Revised

The second rule changes.

## Dropped

The third rule ends.

## Moved

This body is the same at another address.

# Part Two

An annex.
"""

SECOND = """# Part One

Preamble.

## Kept

The first rule stays.

## New

The fourth rule is new.

## Revised

The second rule has changed.

# Part Two

An annex.

## Moved

This body is the same at another address.
"""
