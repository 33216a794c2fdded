"""The formats that weights come in, before a model is made of them."""
