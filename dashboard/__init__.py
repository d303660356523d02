"""What pages share: the live view, the engine's client, controls and recordings. Imports no torch, umap or numba."""
