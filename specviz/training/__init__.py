"""The parts of `specviz.training.train`: corpus, samples, distillation, the resumable loop, the report."""
