"""Builders, rules and drafters of others: from files, modules and installed packages."""
