"""Rankers that compare one vector of the question with one vector of each answer."""
