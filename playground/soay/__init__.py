"""SoAyBench anew (Wang et al. 2024): three services of six and seven functions that are served apart, with template questions and gold programs."""
