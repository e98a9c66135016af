"""Front ends: PettingZoo AEC, Gymnasium, Gymnasium vector, stable-baselines3 and plain batches."""
