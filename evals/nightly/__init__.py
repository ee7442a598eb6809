"""One night over many users, killed and started again, with readers beside it."""
