"""What to run: strategies and their menus, plugins, and the configuration of a run."""
