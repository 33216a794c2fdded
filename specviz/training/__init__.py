"""The parts of `specviz.train`: corpus, samples, distillation, the resumable loop, the report."""
