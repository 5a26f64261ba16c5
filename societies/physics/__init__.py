"""Which workloads compute physical systems and images?"""
