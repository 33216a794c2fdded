"""What the browser gets: a run as plain JSON, or as one page that plays offline."""
