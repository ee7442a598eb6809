"""Measures how well statements are found in ten languages and in English, by words, by vectors and by both."""
