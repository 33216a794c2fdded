"""Model pairs: exact toy tables (`table`) and transformers models (`huggingface`, `pair`)."""
