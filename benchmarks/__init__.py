"""Commands that measure the product. Figures and how to get them: docs/benchmarks.md."""
