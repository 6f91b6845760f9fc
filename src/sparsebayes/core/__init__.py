"""A complete relevance vector machine for regression, small enough to be read in an hour.

Read the files in this order: `quadratic`, `noise`, `prior`, `posterior`, `groups`, `newton`, `solver`, `greedy`,
`units`, `result`, `fit`. Nothing here imports another package of the library.
"""
