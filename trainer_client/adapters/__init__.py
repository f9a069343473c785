"""One module per trainer: rewards in the shape that it takes, and None in the way that it leaves samples out.

Importing one of them imports no trainer; ``verl_manager`` alone subclasses a class of its trainer and needs it.
"""
