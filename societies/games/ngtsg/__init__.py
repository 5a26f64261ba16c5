"""Which modules search game trees node by node (NGTS-G), independently of any game?"""
