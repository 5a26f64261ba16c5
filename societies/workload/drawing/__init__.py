"""How are runs drawn whose workload has no figure of its own?"""
