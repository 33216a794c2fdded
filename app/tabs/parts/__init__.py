"""The parts that tabs are built of: the stage, cards, controls, menus, links and the store of
runs."""
