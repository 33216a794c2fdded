"""Model pairs: exact toy tables (`table`) and transformers models (`pair`)."""

import warnings

# The models load in a notebook without ipywidgets as well; progress is then plain text.
warnings.filterwarnings("ignore", "IProgress not found")
