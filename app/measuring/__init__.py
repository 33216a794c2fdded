"""What the tabs measure piece by piece, and what was recorded of it. No gradio here."""
