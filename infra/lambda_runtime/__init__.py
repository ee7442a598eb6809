"""A function as Lambda runs it: Lambda's own runtime client, the function's layers and nothing else."""
