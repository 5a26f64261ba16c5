"""Which workloads play and search games?"""
